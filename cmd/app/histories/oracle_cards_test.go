package histories

import (
	"slices"

	"reeve/runtime/chat"
)

// questions are those of a wait's card.
func (o *oracle) questions(turn chat.TurnID, wait string) []chat.Question {
	for _, p := range o.posts {
		if p.Turn == turn && p.Card != nil && p.Card.Wait == wait && p.Edits == "" && p.Card.Asking != nil {
			return p.Card.Asking.Questions
		}
	}
	return nil
}

// clickedFor reports whether the turn's actor has allowed that very call: its id,
// its tool and its arguments, as they stood on the card.
func (o *oracle) clickedFor(s *story, m made) bool {
	for _, c := range o.clicked {
		if c.turn != s.id || !c.counted || c.by != s.actor || c.how != chat.ByAnswer || !slices.Contains(c.allowed, m.call) {
			continue
		}
		for _, q := range o.questions(c.turn, c.wait) {
			if q.Call == m.call && q.Tool == m.tool && oneForm(q.Arguments) == m.args {
				return true
			}
		}
	}
	return false
}

func (o *oracle) connected(turn chat.TurnID, wait string) bool {
	return slices.ContainsFunc(o.clicked, func(c click) bool {
		return c.turn == turn && c.wait == wait && c.how == chat.ByAccount && c.counted
	})
}

// waitOf is the wait in which a call was asked about itself: a twin on the same card
// has a box of its own.
func (o *oracle) waitOf(m made) string {
	for _, p := range o.posts {
		if p.Turn == m.turn && p.Card != nil && p.Card.Asking != nil && slices.ContainsFunc(p.Card.Asking.Questions, func(q chat.Question) bool { return q.Call == m.call }) {
			return p.Card.Wait
		}
	}
	return ""
}

// deniedBefore reports whether the actor has denied a call like it in the turn, in
// another wait than the one that is named.
func (o *oracle) deniedBefore(s *story, tool, args string, at int, but string) bool {
	like := func(turn chat.TurnID, wait string, denied func(call string) bool) bool {
		return wait != but && slices.ContainsFunc(o.questions(turn, wait), func(q chat.Question) bool {
			return denied(q.Call) && q.Tool == tool && oneForm(q.Arguments) == args
		})
	}
	for _, c := range o.clicked {
		if c.turn == s.id && c.counted && c.how == chat.ByAnswer && c.at < at && like(c.turn, c.wait, func(id string) bool { return !slices.Contains(c.allowed, id) }) {
			return true
		}
	}
	for _, p := range o.posts {
		if p.Turn == s.id && p.at < at && p.Card != nil && p.Card.Ending != nil && p.Card.Ending.How == chat.ByTime && like(p.Turn, p.Card.Wait, func(string) bool { return true }) {
			return true
		}
	}
	return false
}

// counts is about one click.
func (o *oracle) counts(c click) {
	s := o.turns[c.turn]
	if s == nil {
		o.wrong("a card was of turn %s, which nobody knows", c.turn)
		return
	}
	later := slices.ContainsFunc(o.posts, func(p post) bool {
		return p.Turn == c.turn && p.at < c.at && p.Card != nil && p.Card.Wait != "" && p.Card.Wait != c.wait && o.after(p, c)
	})
	over := slices.ContainsFunc(o.posts, func(p post) bool {
		return p.Turn == c.turn && p.at < c.at && p.Card != nil && p.Card.Wait == c.wait && p.Card.Ending != nil
	})
	if later || over {
		o.seen["click on an old card"]++
	}
	if c.by != s.actor {
		o.seen["click of another"]++
	}
	if !c.counted {
		return
	}
	o.seen["click that counts"]++
	first := o.clicked[slices.IndexFunc(o.clicked, func(f click) bool { return f.counted && f.turn == c.turn && f.wait == c.wait })]
	switch {
	case c.by != s.actor:
		o.wrong("a click of %s counted in turn %s of %s", c.by.Key(), c.turn, s.actor.Key())
	case first.how != c.how || first.by != c.by || !slices.Equal(first.allowed, c.allowed):
		o.wrong("two answers to wait %s of turn %s counted: %+v, and %+v", c.wait, c.turn, first, c)
	case first.at == c.at && (later || over): // the same answer once more is said to be the first
		o.wrong("a click on wait %s of turn %s counted, which was over", c.wait, c.turn)
	}
}

// after reports whether a card was posted after the one that was clicked.
func (o *oracle) after(p post, c click) bool {
	for _, other := range o.posts {
		if other.Turn == c.turn && other.Card != nil && other.Card.Wait == c.wait && other.Edits == "" {
			return p.at > other.at
		}
	}
	return false
}

// card is about one card that asks, with all that ended it.
func (o *oracle) card(p post) {
	s := o.turns[p.Turn]
	if s == nil {
		o.wrong("a card was posted for turn %s, which nobody knows", p.Turn)
		return
	}
	if to := p.To.DM; !o.dice.dm && to != s.actor.User {
		o.wrong("%s was asked in turn %s of %s", to, p.Turn, s.actor.Key())
	}
	asked := 0
	for _, other := range o.posts {
		if other.Turn == p.Turn && other.Card != nil && other.Card.Kind == chat.ConsentCard && other.Edits == "" {
			asked++
		}
	}
	if asked > 5 {
		o.wrong("turn %s has asked %d times", p.Turn, asked)
	}
	for _, q := range p.Card.Asking.Questions {
		if o.deniedBefore(s, q.Tool, oneForm(q.Arguments), p.at, p.Card.Wait) {
			o.wrong("turn %s asks for %s (%s), which was denied", p.Turn, q.Call, q.Tool)
		}
	}
	for _, id := range p.Card.Asking.Calls {
		c := s.calls[id]
		m := made{tool: c.Tool, call: id, args: oneForm(c.Arguments)}
		o.lets(s, m, c.at, "waits for an account")
	}
	if p.unsent {
		return
	}
	ends := o.endings(p)
	var hows []chat.How
	for _, e := range ends {
		hows = append(hows, e.Card.Ending.How)
		o.seen["card "+string(e.Card.Ending.How)]++
	}
	undone := len(hows) == 2 && (hows[0] == chat.ByAnswer || hows[0] == chat.ByAccount || hows[0] == chat.ByRefusal) && (hows[1] == chat.ByStop || hows[1] == chat.ByAbandoned)
	if len(hows) != 1 && !undone {
		o.wrong("the card of wait %s of turn %s, which is %s, has ended as %q", p.Card.Wait, p.Turn, s.outcome, hows)
		return
	}
	last := ends[len(ends)-1].Card.Ending
	if last.How == chat.ByAnswer && (last.By == nil || *last.By != s.actor) {
		o.wrong("the record of wait %s of turn %s of %s says that %v has answered", p.Card.Wait, p.Turn, s.actor.Key(), last.By)
	}
	for _, m := range o.made {
		on := slices.ContainsFunc(p.Card.Asking.Questions, func(q chat.Question) bool { return q.Call == m.call }) || slices.Contains(p.Card.Asking.Calls, m.call)
		if m.turn == p.Turn && on && last.How != chat.ByAnswer && last.How != chat.ByAccount {
			o.wrong("%s (%s) of turn %s was made, and its card has ended as %s", m.call, m.tool, m.turn, last.How)
		}
	}
}
