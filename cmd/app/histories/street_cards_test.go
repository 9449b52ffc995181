package histories

import (
	"encoding/json"
	"slices"
	"strings"

	"reeve/cmd/app/apptest"
	"reeve/runtime/chat"
	"reeve/slackapp/simulator"
)

// posted is a card as Slack shows it.
type posted struct {
	chat.Part
	at          int
	channel, ts string
	value       string // of its buttons
	actor       int    // whose DM it stands in
	endings     []post
}

func (c *posted) calls() (ids []string) {
	for _, q := range c.questions() {
		ids = append(ids, q.Call)
	}
	return ids
}

func (c *posted) questions() []chat.Question {
	if c.Card.Asking == nil {
		return nil
	}
	return c.Card.Asking.Questions
}

// dms are the people's.
var dms = []string{simulator.AliceDM, simulator.BobDM, simulator.CarolDM}

// look takes in what Slack shows since the last look.
func (s *street) look() {
	for _, e := range s.Slack.Events(s.mark) {
		s.mark = e.Seq
		if e.Message == nil {
			continue
		}
		to := slices.Index(dms, e.Message.Channel)
		i := slices.IndexFunc(s.cards, func(c *posted) bool { return c.ts == e.Message.TS && c.channel == e.Message.Channel })
		switch {
		case to < 0 || e.Kind != simulator.MessagePosted && e.Kind != simulator.MessageChanged:
		case i >= 0:
			s.cards[i].ends(e)
		case e.Kind == simulator.MessagePosted:
			if c := card(*e.Message); c != nil && c.Card.Conversation == s.h.in {
				c.at, c.actor, c.To.DM = int(e.Seq), to, people[to].User
				s.cards = append(s.cards, c)
			}
		}
	}
}

// block is what is read of one.
type block struct {
	Type     string
	Text     struct{ Text string }
	Elements []struct {
		Type     string
		ActionID string `json:"action_id"`
		Value    string
		Options  []struct{ Value string }
		Elements []struct{ Text string }
	}
}

// card reads a card from its post; nil: it is none with buttons.
func card(m simulator.Message) *posted {
	var blocks []block
	if json.Unmarshal(m.Blocks, &blocks) != nil {
		return nil
	}
	c := &posted{channel: m.Channel, ts: m.TS, Part: chat.Part{ID: apptest.PartOf(m), Card: &chat.Card{}}}
	var tool, body string
	for _, b := range blocks {
		for _, e := range b.Elements {
			switch {
			case e.Type == "rich_text_section" && len(e.Elements) > 0: // "1. tool", and its facts
				_, tool, _ = strings.Cut(e.Elements[0].Text, ". ")
				body = ""
			case e.Type == "rich_text_preformatted":
				for _, piece := range e.Elements {
					body += piece.Text
				}
			case e.Type == "checkboxes" && len(e.Options) == 1:
				if c.Card.Asking == nil {
					c.Card.Asking = &chat.Asking{}
				}
				q := chat.Question{Call: e.Options[0].Value, Tool: tool, Arguments: body}
				kind := kinds[tool]
				q.Provider, q.Sends, q.Write = kind.Provider, kind.Sends, kind.Access == "write"
				if kind.Sends {
					q.Host, _ = hostOf(json.RawMessage(body))
				}
				c.Card.Asking.Questions = append(c.Card.Asking.Questions, q)
			case strings.HasPrefix(e.ActionID, "card:"):
				kind, _, _ := strings.Cut(strings.TrimPrefix(e.ActionID, "card:"), ":")
				c.Card.Kind, c.value = chat.CardKind(kind), e.Value
			}
		}
	}
	var says struct{ C, T, W string }
	if json.Unmarshal([]byte(c.value), &says) != nil {
		return nil
	}
	c.Turn, c.Card.Turn, c.Card.Wait = chat.TurnID(says.T), chat.TurnID(says.T), says.W
	c.Card.Conversation, _ = chat.ParseConversation(says.C)
	return c
}

// hows are how a record says that its wait has ended.
var hows = map[string]chat.How{
	" answered": chat.ByAnswer, "*Expired*": chat.ByTime, "*Overtaken*": chat.ByMessage, "*Stopped*": chat.ByStop, "*Given up*": chat.ByAbandoned,
	"*Not delivered*": chat.ByNoCard, "*Not waited": chat.ByOperator, "took it as a turn": chat.ByAnswer, "*Over*": "over",
}

// ends takes in that a card has become a record.
func (c *posted) ends(e simulator.Event) {
	var blocks []block
	if json.Unmarshal(e.Message.Blocks, &blocks) != nil || len(blocks) == 0 || strings.Contains(string(e.Message.Blocks), `"action_id"`) {
		return
	}
	head := blocks[0].Text.Text
	for words, how := range hows {
		if !strings.Contains(head, words) || len(c.endings) > 0 && c.endings[len(c.endings)-1].Card.Ending.How == how {
			continue
		}
		end := chat.Ending{How: how}
		for _, who := range people[:robot] {
			if by := strings.Index(head, string(who.User)); by >= 0 && by < strings.Index(head, words) {
				end.By = &who
			}
		}
		c.endings = append(c.endings, post{Part: chat.Part{
			ID: c.ID + " " + string(how), Turn: c.Turn, To: c.To, Edits: c.ID, Card: &chat.Card{Kind: c.Card.Kind, Turn: c.Turn, Wait: c.Card.Wait, Ending: &end},
		}, at: int(e.Seq)})
		return
	}
}
