package histories

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// view implements world.
func (h *house) view() view {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := view{Running: -1, Lost: h.senders > 0 || len(h.dead) > 0}
	for turn := range h.dead {
		v.Running = h.actors[turn]
	}
	for _, a := range h.waiting() {
		s := seenAsk{Turn: a.turn, Actor: h.actors[a.turn]}
		for _, before := range h.asks {
			if before.turn == a.turn {
				s.Calls = append(s.Calls, before.calls...)
			}
		}
		for _, m := range h.said {
			if m.Author != people[s.Actor] && strings.Contains(a.text(), token(m.ID.TS)) {
				s.Steers = append(s.Steers, string(h.in.Channel)+":"+string(m.ID.TS))
			}
		}
		v.Asks, v.Running = append(v.Asks, s), s.Actor
	}
	for _, m := range h.said {
		v.Messages = append(v.Messages, seenMessage{slices.Index(people, m.Author), m.Text})
	}
	for _, p := range h.cards() {
		c := seenCard{Kind: p.Card.Kind, Actor: h.actors[p.Turn]}
		if p.Card.Kind == chat.OfferCard {
			c.Actor = slices.IndexFunc(people, func(a chat.Actor) bool { return a.User == p.To.DM })
		} else {
			c.Open = len(h.endings(p)) == 0
			for _, q := range p.Card.Asking.Questions {
				c.Calls = append(c.Calls, q.Call)
			}
		}
		v.Cards = append(v.Cards, c)
	}
	return v
}

// waiting are the requests that the model has not answered.
func (h *house) waiting() []*ask {
	return slices.DeleteFunc(slices.Clone(h.asks), func(a *ask) bool { return !a.waits() })
}

// cards are the posts with buttons that were posted, without the records that
// took their places. The world is locked.
func (h *house) cards() []post {
	return slices.DeleteFunc(slices.Clone(h.posts), func(p post) bool { return p.Card == nil || p.Edits != "" || p.unsent })
}

// endings are how a card's wait ended, as its records say.
func (h *house) endings(card post) []post {
	return slices.DeleteFunc(slices.Clone(h.posts), func(p post) bool {
		return p.Edits != card.ID || p.Card == nil || p.Card.Ending == nil
	})
}

// token is what tells a message's text from all others.
func token(ts chat.TS) string { return "[m" + string(ts[len(ts)-6:]) + "]" }

var tokenForm = regexp.MustCompile(`\[m([0-9]{6})\]`)

// authorOf is who has written the message whose token stands in a text.
func (h *house) authorOf(text string) chat.Actor {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := tokenForm.FindString(text); found != "" {
		for _, m := range h.said {
			if m.token() == found {
				return m.Author
			}
		}
	}
	return chat.Actor{}
}

// do implements world.
func (h *house) do(a act) {
	r := h.replicas[a.Replica]
	switch a.Kind {
	case says, drops:
		h.says(r, a)
	case answers:
		h.answer(h.waiting()[a.On], a.Reply)
	case edits, deletes, signs:
		h.changes(r, a)
	case clicks:
		h.click(r, h.cards()[a.On].Part, a)
	case connects:
		h.connect(r, h.cards()[a.On].Part, a)
	case owns:
		c := h.cards()[a.On].Card
		if got, err := r.OwnTurn(context.Background(), c.Conversation, c.Turn, c.Messages, people[a.Who]); err != nil {
			h.wrong("own turn: %v", err)
		} else if got != chat.OwnNotYours && got != chat.OwnGone && h.saidAt(c.Messages[0]).Author != people[a.Who] {
			h.wrong("%s has made a message of another's his own turn: %s", people[a.Who].Key(), got)
		}
	case loses:
		h.note(func() { delete(h.accounts, people[a.Who]) })
	case dies:
		h.note(func() { h.dieIn = a.Steps })
	case mutes:
		h.note(func() { h.mute = true })
	case refuses:
		h.note(func() { h.refuse = true })
	case wakes:
		h.wake(leaseTTL + time.Second)
	case expires:
		h.wake(time.Hour + time.Second)
	}
}

// wake lets time pass and starts another replica, which looks for what is due.
func (h *house) wake(after time.Duration) {
	h.note(func() {
		h.senders = 0
		clear(h.dead)
		for _, a := range h.asks {
			a.stale = true
		}
	})
	h.pass(after)
	h.open(true)
}

func (h *house) saidAt(ts chat.TS) said {
	for _, m := range h.said {
		if m.ID.TS == ts {
			return m
		}
	}
	return said{}
}

// says puts a message.
func (h *house) says(r *replica, a act) {
	n := len(h.said) + 1
	m := chat.Message{
		ID: chat.MessageID{Team: "T1", Channel: h.in.Channel, TS: h.ts(n)}, Conversation: h.in, Visibility: chat.Public,
		Author: people[a.Who], Standing: chat.MayInstruct, Addressed: a.Addressed, Forced: a.Forced, Stop: a.Stop,
	}
	if h.dice.dm {
		m.Author, m.Visibility, m.Addressed = people[0], chat.DM, true
	}
	if m.Author == people[robot] {
		m.Standing = chat.ContextOnly
		if a.Unchecked {
			m.Standing = chat.Unchecked
		}
	}
	m.Text = token(m.ID.TS) + " " + words[a.Words].text
	if a.Stop {
		m.Text, m.Forced = "stop", false
	}
	h.mu.Lock()
	h.said = append(h.said, said{Message: m, words: a.Words})
	h.mu.Unlock()
	if a.Kind == drops {
		h.drop(m, n-1)
		return
	}
	o := r.Deliver(context.Background(), []chat.Message{m})[0]
	if o.Err != nil {
		h.wrong("deliver: %v", o.Err)
	}
	h.note(func() { h.said[n-1].outcome = o })
}

// drop puts a message by a process that is lost when it has.
func (h *house) drop(m chat.Message, at int) {
	turn := chat.TurnID("t_dropped" + strconv.Itoa(at))
	got, errs := h.box.PutAll(context.Background(), []mailbox.Put{{
		Message: m, Row: runtime.RowOf(m, h.dice.policy, time.Now()), Turn: turn, Setup: []byte(`{"tools":null,"nobodys":null}`), Claim: true,
	}})
	if errs[0] != nil {
		h.wrong("drop: %v", errs[0])
		return
	}
	h.note(func() {
		h.said[at].outcome = runtime.Outcome{Message: m, Disposition: got[0].Disposition, Turn: got[0].Turn}
		if got[0].Claimed != nil {
			h.dead[got[0].Claimed.Turn], h.actors[got[0].Claimed.Turn] = true, slices.Index(people, got[0].Claimed.Actor)
		}
	})
}

// changes edits or deletes a message, or puts a stop reaction on it.
func (h *house) changes(r *replica, a act) {
	old := h.said[a.On]
	m := old.Message
	m.Text, m.Forced, m.Stop = "", false, false
	h.note(func() { h.said[a.On].changed, h.count = true, h.count+1 })
	change := chat.TS(fmt.Sprintf("%d.%06d", h.base+2, h.count))
	switch a.Kind {
	case deletes:
		m.Change = &chat.Change{Kind: chat.Deleted, TS: change}
		m.Author = chat.Actor{}
	case edits:
		m.Text = token(m.ID.TS) + " rather: " + words[a.Words].text
		m.Stop, m.Addressed = a.Stop, old.Addressed || a.Addressed
		if a.Stop {
			m.Text = "stop"
		} else {
			h.note(func() { h.said[a.On].words = -1 })
		}
		m.Edited = change
		h.note(func() { h.said[a.On].edits = append(h.said[a.On].edits, change) })
		m.Change = &chat.Change{Kind: chat.Edited, TS: change, ByAuthor: people[a.Who] == old.Author, Differs: true, AddsMention: a.Addressed && !old.Addressed}
	case signs:
		m.ID.TS, m.Author, m.Stop = change, people[a.Who], true
		if m.Standing = chat.MayInstruct; a.Who == robot {
			m.Standing = chat.ContextOnly
		}
		m.Change = &chat.Change{Kind: chat.StopSign, TS: change, On: old.ID.TS}
	}
	if o := r.Deliver(context.Background(), []chat.Message{m})[0]; o.Err != nil {
		h.wrong("%s: %v", a.Kind, o.Err)
	}
}

// answer answers a request of the model's.
func (h *house) answer(a *ask, r reply) {
	say := agent.Reply{Text: fmt.Sprintf("[a%06d] consent: yes", a.n), Tokens: 1}
	for _, c := range r.Calls {
		say.Calls = append(say.Calls, chat.ToolCall(c))
	}
	h.note(func() { a.answered, a.calls = true, r.Calls })
	a.reply <- say
}

// text is all that the model reads of a request.
func (a *ask) text() string {
	var all strings.Builder
	for _, m := range a.req.Messages {
		all.WriteString(m.Content + "\n")
	}
	return all.String()
}

// click answers a consent or a connect card.
func (h *house) click(r *replica, card chat.Part, a act) {
	refuse := a.Refuse || len(a.Allowed) == 0
	h.clicks(r, card.Card, people[a.Who], a.Allowed, refuse)
	if a.Twice {
		h.clicks(r, card.Card, people[a.Who], a.Allowed, refuse)
	}
}

func (h *house) clicks(r *replica, c *chat.Card, by chat.Actor, allowed []string, refuse bool) {
	done := click{turn: c.Turn, wait: c.Wait, by: by, allowed: allowed, how: chat.ByAnswer}
	if refuse {
		done.allowed = nil
	}
	h.note(func() { h.count++; done.at = h.count })
	got, err := r.Answer(context.Background(), c.Conversation, c.Turn, c.Wait, by, allowed, refuse)
	if c.Kind == chat.ConnectCard {
		if done.how = chat.ByRefusal; !refuse {
			err = nil // it is none
		}
	}
	if err != nil {
		h.wrong("click: %v", err)
	}
	done.counted = got == chat.AnswerRecorded
	h.note(func() { h.clicked = append(h.clicked, done) })
}

// connect ends a connection: the account is there, in time or late, or it is
// refused.
func (h *house) connect(r *replica, card chat.Part, a act) {
	owner := chat.Actor{Team: "T1", User: card.To.DM}
	if card.To.DM == "" {
		owner = people[0]
	}
	done := click{turn: card.Turn, wait: card.Card.Wait, by: owner, how: chat.ByAccount}
	if a.Steps == 0 {
		done.how = chat.ByRefusal
	}
	h.note(func() {
		h.count++
		done.at = h.count
		if done.how == chat.ByAccount {
			h.accounts[owner] = true
		}
	})
	ended, err := r.EndWait(context.Background(), card.Card.Conversation, card.Turn, card.Card.Wait, chat.Ending{How: done.how, By: &owner})
	if err != nil {
		h.wrong("end the wait: %v", err)
	}
	done.counted = ended
	h.note(func() { h.clicked = append(h.clicked, done) })
}

// finish ends all that is open, and says what is wrong then.
func (h *house) finish() {
	h.note(func() { h.dieIn, h.mute, h.refuse = 0, false, false })
	for range 60 {
		h.settle()
		asks := h.waiting()
		for _, a := range asks {
			h.answer(a, reply{})
		}
		if len(asks) > 0 {
			continue
		}
		due, err := h.box.Due(context.Background())
		if err != nil {
			h.wrong("read what is due: %v", err)
		}
		if len(due) == 0 {
			break
		}
		h.wake(time.Hour + time.Second)
	}
	h.close()
}
