package slackapp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// Decider does what the buttons of cards decide. What it answers is durable.
type Decider interface {
	// Answer records what a person answered on a consent or connect card. Which
	// calls were asked about, and of whom, it knows itself: allowed is what the
	// click says.
	Answer(ctx context.Context, in chat.Conversation, turn chat.TurnID, wait string, by chat.Actor, allowed []string, refuse bool) (chat.Answered, error)
	// OwnTurn hands messages that were steered into a turn back to their author.
	OwnTurn(ctx context.Context, in chat.Conversation, turn chat.TurnID, messages []chat.TS, by chat.Actor) (chat.Owned, error)
}

// Connections does what people do with their accounts at providers.
type Connections interface {
	// Enter takes the code that a flow's page shows. sentence is for the person;
	// done: the window has nothing more to ask.
	Enter(ctx context.Context, flow string, by chat.Actor, code string) (sentence string, done bool, err error)
	// NewCode is the card of a flow by a code, with another code; without a card the
	// sentence says to its person why there is none.
	NewCode(ctx context.Context, flow string, by chat.Actor) (card *chat.Card, sentence string, err error)
	// Refuse ends a flow whose account its person does not want to connect.
	Refuse(ctx context.Context, flow string, by chat.Actor) (sentence string, err error)
	// DisconnectAccount ends a person's own connection to an account of that name, if
	// that is still the one; sentence is for him, in plain text.
	DisconnectAccount(ctx context.Context, by chat.Actor, provider, account string) (sentence string, err error)
}

// Cards does what the buttons of cards say.
type Cards struct {
	Client      *slack.Client
	Decider     Decider
	Connections Connections // nil: there is no account to be connected
	Log         *slog.Logger
	// Settle is how long the record of an answer is given to come before a card
	// that is over loses its buttons; 3 s.
	Settle time.Duration
	Now    func() time.Time // nil: the clock
}

var (
	_ Clicks = (*Cards)(nil)
	_ Forms  = (*Cards)(nil)
)

// Click implements Clicks, for elements of cards. A box that is ticked changes
// nothing, nor does a link.
func (c *Cards) Click(ctx context.Context, k Click) (func(context.Context), error) {
	kind, button, ok := parseCardAction(k.Action)
	if !ok || k.Home {
		return nil, nil
	}
	switch {
	case button == tickButton || button == "open":
		return nil, nil
	case kind == chat.ConsentCard && button == "allow" && len(k.Ticked) == 0:
		return c.say(k, TextTickFirst), nil
	}
	value, in, ok := parseValue(k.Value)
	if !ok {
		return c.say(k, TextCardOver), nil
	}
	switch string(kind) + " " + button {
	case "consent allow":
		return c.answer(ctx, k, value, in, k.Ticked, false)
	case "consent refuse":
		return c.answer(ctx, k, value, in, nil, true)
	case "connect refuse":
		// The link ends with the wait: whoever opened it later would connect what
		// was just refused.
		if c.Connections != nil && value.Flow != "" {
			if _, err := c.Connections.Refuse(ctx, value.Flow, k.By); err != nil {
				return nil, fmt.Errorf("refuse flow: %w", err)
			}
		}
		return c.answer(ctx, k, value, in, nil, true)
	case "connect code":
		return func(ctx context.Context) { c.askCode(ctx, k, value.Flow) }, nil
	case "connect renew":
		return func(ctx context.Context) { c.renewCode(ctx, k, value.Flow) }, nil
	case "offer own":
		return c.own(ctx, k, value, in)
	case "connected disconnect":
		return c.disconnect(ctx, k, value)
	}
	return nil, nil
}

func (c *Cards) answer(ctx context.Context, k Click, v pressed, in chat.Conversation, allowed []string, refuse bool) (func(context.Context), error) {
	outcome, err := c.Decider.Answer(ctx, in, v.Turn, v.Wait, k.By, allowed, refuse)
	if err != nil {
		return nil, fmt.Errorf("answer wait %s of turn %s: %w", v.Wait, v.Turn, err)
	}
	switch outcome {
	case chat.AnswerNotYours:
		return c.say(k, TextCardNotYours), nil
	case chat.AnswerOver:
		return func(ctx context.Context) {
			c.tell(ctx, k, TextCardOver)
			c.close(ctx, k)
		}, nil
	}
	return nil, nil // its record comes by way of the outbox
}

func (c *Cards) own(ctx context.Context, k Click, v pressed, in chat.Conversation) (func(context.Context), error) {
	outcome, err := c.Decider.OwnTurn(ctx, in, v.Turn, v.Messages, k.By)
	if err != nil {
		return nil, fmt.Errorf("hand messages of turn %s back: %w", v.Turn, err)
	}
	card := chat.Card{Kind: chat.OfferCard, Conversation: in, Turn: v.Turn, Ending: &chat.Ending{}}
	switch outcome {
	case chat.OwnNotYours:
		return c.say(k, TextOwnNotYours), nil
	case chat.OwnHandedBack:
		card.Ending = c.ending(chat.ByAnswer, k.By)
	case chat.OwnAlready: // by its turn, or when that ended
		card.Ending = &chat.Ending{How: chat.ByHandBack}
	}
	return func(ctx context.Context) { c.show(ctx, k, card) }, nil
}

func (c *Cards) disconnect(ctx context.Context, k Click, v pressed) (func(context.Context), error) {
	if c.Connections == nil {
		return c.say(k, TextCardOver), nil
	}
	sentence, err := c.Connections.DisconnectAccount(ctx, k.By, v.Provider, v.Account)
	if err != nil {
		return nil, fmt.Errorf("disconnect %s: %w", v.Provider, err)
	}
	return func(ctx context.Context) {
		c.tell(ctx, k, sentence)
		c.show(ctx, k, chat.Card{
			Kind: chat.ConnectedCard, Provider: v.Provider, Account: v.Account, Ending: c.ending(chat.ByRefusal, k.By),
		})
	}, nil
}

func (c *Cards) ending(how chat.How, by chat.Actor) *chat.Ending {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	return &chat.Ending{How: how, By: &by, Time: now()}
}

// show puts a card in the place of the one that was pressed. It has been done
// already what it tells of, so that one try is enough.
func (c *Cards) show(ctx context.Context, k Click, card chat.Card) {
	if k.Channel == "" {
		return
	}
	var err error
	for _, form := range wholeForms(card) {
		_, _, _, err = c.Client.UpdateMessageContext(ctx, string(k.Channel), string(k.TS), cardOptions(form, TextCard(card))...)
		if err == nil || judge(err).kind != failForm {
			break
		}
	}
	if err != nil {
		c.Log.Warn("card not changed", "actor", k.By.Key(), "channel", k.Channel, "ts", k.TS, "err", judge(err).text())
	}
}

// close takes the buttons off a card that is over and has not become a record.
func (c *Cards) close(ctx context.Context, k Click) {
	if k.Channel == "" || pause(ctx, cmp.Or(c.Settle, 3*time.Second)) != nil {
		return
	}
	blocks, err := c.now(ctx, k)
	if err == nil && blocks == nil {
		return
	}
	if err == nil {
		_, _, _, err = c.Client.UpdateMessageContext(ctx, string(k.Channel), string(k.TS), cardOptions(append(blocks, ours(TextCardOver)), TextCardOver)...)
	}
	if err != nil {
		c.Log.Warn("card that is over not changed", "actor", k.By.Key(), "channel", k.Channel, "ts", k.TS, "err", judge(err).text())
	}
}

// now is a message without its buttons, as it stands now; nil: it has none.
func (c *Cards) now(ctx context.Context, k Click) (blocks []slack.Block, err error) {
	var found []slack.Message
	if k.Thread != "" && k.Thread != k.TS {
		found, _, _, err = c.Client.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: string(k.Channel), Timestamp: string(k.Thread), Oldest: string(k.TS), Latest: string(k.TS), Inclusive: true, Limit: 2,
		})
	} else {
		var h *slack.GetConversationHistoryResponse
		h, err = c.Client.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: string(k.Channel), Oldest: string(k.TS), Latest: string(k.TS), Inclusive: true, Limit: 1,
		})
		if err == nil {
			found = h.Messages
		}
	}
	for _, m := range found {
		if m.Timestamp != string(k.TS) {
			continue
		}
		live := false
		for _, b := range m.Blocks.BlockSet {
			if b.BlockType() == slack.MBTAction {
				live = true
				continue
			}
			blocks = append(blocks, b)
		}
		if !live {
			return nil, nil
		}
	}
	return blocks, err
}

// say is what follows a click that changed nothing.
func (c *Cards) say(k Click, text string) func(context.Context) {
	return func(ctx context.Context) { c.tell(ctx, k, text) }
}

// tell says something to the person who clicked, and to nobody else: where he
// clicked if that can be, else by direct message.
func (c *Cards) tell(ctx context.Context, k Click, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	options := []slack.MsgOption{
		slack.MsgOptionText(text, true), slack.MsgOptionDisableMarkdown(), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
	var err error
	if k.Channel != "" {
		here := options
		if k.Thread != "" {
			here = append(here[:len(here):len(here)], slack.MsgOptionTS(string(k.Thread)))
		}
		if _, err = c.Client.PostEphemeralContext(ctx, string(k.Channel), string(k.By.User), here...); err == nil {
			return
		}
	}
	if _, _, err = c.Client.PostMessageContext(ctx, string(k.By.User), options...); err != nil {
		c.Log.Info("answer to a click not told", "actor", k.By.Key(), "err", judge(err).text())
	}
}

// Buttons does what all buttons of ours say.
type Buttons struct {
	Home  *Home
	Cards *Cards
}

// Click implements Clicks.
func (b Buttons) Click(ctx context.Context, c Click) (func(context.Context), error) {
	switch {
	case strings.HasPrefix(c.Action, homePrefix+":") && b.Home != nil:
		return b.Home.Click(ctx, c)
	case strings.HasPrefix(c.Action, cardPrefix+":") && b.Cards != nil:
		return b.Cards.Click(ctx, c)
	}
	return nil, nil
}
