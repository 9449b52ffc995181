package slackapp

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
	"reeve/slackapp/render"
)

// HomeList is one list of the home tab, for each person his own.
type HomeList struct {
	// Name is in the buttons' ids.
	Name, Title string
	Items       func(ctx context.Context, person chat.Actor) ([]chat.HomeItem, error)
	// Act does what a button says; see Clicks. dm is Markdown for the person.
	Act func(ctx context.Context, person chat.Actor, button, item string) (dm string, err error)
}

// Home shows people the bot's home tab, and does what its buttons say.
type Home struct {
	Client *slack.Client
	Lists  []HomeList
	Log    *slog.Logger
}

// homePrefix begins the action ids of buttons in the home tab:
// "home:LIST:BUTTON:ITEM".
const homePrefix = "home"

// Limits of Slack's for a view, of which some room is kept.
const (
	homeBlocks   = 100
	homeText     = 2000 // bytes of one text: a view has 250 KB
	homeTime     = 20 * time.Second
	buttonsMost  = 5
	homeReserved = 4 // blocks of a list that are no items
)

// Opened shows a person's home tab, which he has opened.
func (h *Home) Opened(ctx context.Context, person chat.Actor) {
	ctx, cancel := context.WithTimeout(ctx, homeTime)
	defer cancel()
	h.show(ctx, person, "")
}

// Click implements Clicks, for buttons of the home tab.
func (h *Home) Click(ctx context.Context, c Click) (func(context.Context), error) {
	parts := strings.SplitN(c.Action, ":", 4)
	if !c.Home || len(parts) != 4 || parts[0] != homePrefix {
		return nil, nil
	}
	for _, l := range h.Lists {
		if l.Name != parts[1] {
			continue
		}
		dm, err := l.Act(ctx, c.By, parts[2], parts[3])
		if err != nil {
			return nil, fmt.Errorf("act on %s of %s: %w", parts[2], l.Name, err)
		}
		return func(ctx context.Context) {
			note := ""
			if dm != "" && !h.tell(ctx, c.By, dm) {
				note = TextHomeNotSent()
			}
			h.show(ctx, c.By, note)
		}, nil
	}
	return nil, nil
}

// tell sends a person Markdown by direct message.
func (h *Home) tell(ctx context.Context, person chat.Actor, markdown string) bool {
	for _, piece := range Split(markdown) {
		post := render.Render(piece, render.Markdown, render.Options{})
		if _, _, err := h.Client.PostMessageContext(ctx, string(person.User), postOptions(post)...); err != nil {
			h.Log.Warn("direct message not sent", "actor", person.Key(), "err", judge(err).text())
			return false
		}
	}
	return true
}

// show publishes the tab. It is shown anew whenever it is opened, so that one
// try is enough.
func (h *Home) show(ctx context.Context, person chat.Actor, note string) {
	blocks := []slack.Block{}
	if note != "" {
		blocks = append(blocks, slack.NewContextBlock("", plain(note)))
	}
	room := (homeBlocks - len(blocks)) / max(len(h.Lists), 1)
	for _, l := range h.Lists {
		blocks = append(blocks, h.list(ctx, l, person, room)...)
	}
	view := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks}}
	if _, err := h.Client.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: string(person.User), View: view}); err != nil {
		h.Log.Warn("home tab not shown", "actor", person.Key(), "err", judge(err).text())
	}
}

// list is one list's blocks, at most room of them.
func (h *Home) list(ctx context.Context, l HomeList, person chat.Actor, room int) []slack.Block {
	blocks := []slack.Block{slack.NewHeaderBlock(plain(l.Title))}
	items, err := l.Items(ctx, person)
	if err != nil {
		h.Log.Warn("list of the home tab not read", "actor", person.Key(), "list", l.Name, "err", err)
		return append(blocks, slack.NewContextBlock("", plain(TextHomeBroken())))
	}
	for i, item := range items {
		shown := itemBlocks(l.Name, item)
		if len(blocks)+len(shown) > room-homeReserved {
			blocks = append(blocks, slack.NewContextBlock("", plain(TextHomeMore(len(items)-i))))
			break
		}
		blocks = append(blocks, shown...)
	}
	return append(blocks, slack.NewDividerBlock())
}

func itemBlocks(list string, item chat.HomeItem) []slack.Block {
	var buttons []slack.BlockElement
	for _, b := range item.Buttons[:min(len(item.Buttons), buttonsMost)] {
		button := slack.NewButtonBlockElement(strings.Join([]string{homePrefix, list, b.Name, item.ID}, ":"), "", plain(b.Label))
		if b.Ask != "" {
			button.Confirm = slack.NewConfirmationBlockObject(plain(b.Label), plain(b.Ask), plain(TextHomeYes()), plain(TextHomeNo()))
			button.Style = slack.StyleDanger
		}
		buttons = append(buttons, button)
	}
	switch {
	case item.Small && len(buttons) == 0:
		return []slack.Block{slack.NewContextBlock("", plain(item.Text))}
	case len(buttons) == 1:
		return []slack.Block{slack.NewSectionBlock(plain(item.Text), nil, slack.NewAccessory(buttons[0]))}
	case len(buttons) == 0:
		return []slack.Block{slack.NewSectionBlock(plain(item.Text), nil, nil)}
	}
	return []slack.Block{slack.NewSectionBlock(plain(item.Text), nil, nil), slack.NewActionBlock("", buttons...)}
}

// plain is text in which Slack reads no markup, cut to what a block holds.
func plain(text string) *slack.TextBlockObject {
	if len(text) > homeText {
		text = strings.ToValidUTF8(text[:homeText], "") + "…"
	}
	if strings.TrimSpace(text) == "" {
		text = "–"
	}
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}
