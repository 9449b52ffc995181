package histories

import (
	"context"
	"slices"

	"reeve/cmd/app/apptest"
	"reeve/runtime/chat"
	"reeve/slackapp/simulator"
)

// file puts what was seen where the oracle looks for it.
func (s *street) file() {
	s.look()
	h := s.h
	for _, m := range s.Posts(simulator.General, string(h.in.Root)) {
		if turn := apptest.TurnOf(m); turn != "" {
			h.posts = append(h.posts, post{Part: chat.Part{ID: apptest.PartOf(m), Turn: chat.TurnID(turn), Markdown: apptest.ShownText(m)}})
		}
	}
	turns := newOracle(h, map[string]int{}).turns
	for _, c := range s.cards {
		for i, q := range c.questions() {
			if q.Arguments == "" { // they stand above the card, in posts of their own
				if from := turns[c.Turn]; from != nil {
					c.Card.Asking.Questions[i].Arguments = from.calls[q.Call].Arguments
				}
			}
		}
		h.posts = append(append(h.posts, post{Part: c.Part, at: c.at}), c.endings...)
		h.actors[c.Turn] = c.actor
	}
	h.asks = slices.DeleteFunc(h.asks, func(a *ask) bool {
		began := s.request(a)
		for id, turn := range turns {
			if turn.answered(a.n) >= 0 {
				a.turn = id
				return false
			}
			if began.ID.TS != "" && turn.took(began.ID.TS, min(1, len(turn.log))) {
				a.turn = id
			}
		}
		return a.turn == ""
	})
	for _, turn := range turns {
		s.waits(turn)
	}
}

// waits finds the click that each answer of a turn's was.
func (s *street) waits(turn *story) {
	told, err := s.box.Story(context.Background(), s.h.in, turn.id)
	if err != nil {
		s.h.wrong("read turn %s: %v", turn.id, err)
	}
	for _, w := range told.Waits {
		if w.How != chat.ByAnswer {
			continue
		}
		var allowed []string
		at := turn.decided(string(w.ID))
		if at >= 0 {
			allowed = turn.log[at].entry.Decision.Allowed
		}
		i := slices.IndexFunc(s.h.clicked, func(c click) bool {
			return c.turn == turn.id && c.wait == string(w.ID) && c.by == w.By && (at < 0 || sameSet(c.allowed, allowed))
		})
		if i < 0 {
			s.h.wrong("wait %s of turn %s was answered by %s with %q, and he has clicked nothing such", w.ID, turn.id, w.By.Key(), allowed)
			continue
		}
		s.h.clicked[i].counted = true
	}
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id string) bool { return !slices.Contains(b, id) })
}
