package slackapp_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// TestP7_ACardOnce: a lost answer doubles no card, whole or in pieces.
func TestP7_ACardOnce(t *testing.T) {
	for name, c := range map[string]chat.Card{"whole": consentCard(), "in pieces": tenCalls(`"`)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.sim.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true, Times: 2})
			b.send(false, b.cardPart(1, c))
			buttons, seen := 0, map[string]bool{}
			for _, m := range b.inDM() {
				if strings.Contains(string(m.Blocks), `"actions"`) {
					buttons++
				}
				if id := string(m.Metadata); seen[id] {
					t.Errorf("%s stands there twice", id)
				} else {
					seen[id] = true
				}
			}
			if buttons != 1 {
				t.Errorf("%d posts have buttons", buttons)
			}
		})
	}
}

// TestACardThatAnEarlierSenderPosted is found, and posted no second time.
func TestACardThatAnEarlierSenderPosted(t *testing.T) {
	for name, c := range map[string]chat.Card{"whole": consentCard(), "in pieces": tenCalls(`"`)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			p := b.cardPart(1, c)
			p.Written = chat.TSOf(time.Now())
			b.send(false, p)
			before := len(b.inDM())
			b.box = newOutbox()
			b.send(true, p)
			if n := len(b.inDM()); n != before {
				t.Errorf("%d posts, then %d", before, n)
			}
		})
	}
}

// TestTheLadderOfACard: plainer forms, then arguments apart, and then nobody is
// asked; arguments are never left out.
func TestTheLadderOfACard(t *testing.T) {
	c := consentCard()
	for refusals, posts := range []int{1, 1, 3} {
		b := newBench(t, nil)
		if refusals > 0 {
			b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "invalid_blocks", Times: refusals})
		}
		b.send(false, b.cardPart(1, c))
		got := b.inDM()
		if len(got) != posts {
			t.Fatalf("after %d refusals there are %d posts, want %d", refusals, len(got), posts)
		}
		all := ""
		for _, m := range got {
			literal, _ := literals(t, m.Blocks)
			all += literal
		}
		for _, q := range c.Asking.Questions {
			if !strings.Contains(all, q.Arguments) {
				t.Errorf("after %d refusals %s stands there without its arguments", refusals, q.Tool)
			}
		}
	}
}

func TestACardThatSlackNeverTakesIsUnsent(t *testing.T) {
	for _, code := range []string{"invalid_blocks", "user_disabled"} {
		b := newBench(t, nil)
		b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: code, Times: -1})
		b.begin(false, b.cardPart(1, consentCard()))
		b.wait(b.box.released)
		b.wantUnsent(b.part(1, "").ID, code)
		if posts := b.inDM(); len(posts) != 0 {
			t.Errorf("there are %d posts", len(posts))
		}
	}
}

// TestACardKnowsWhereItStands: the mailbox is told the DM's message.
func TestACardKnowsWhereItStands(t *testing.T) {
	b := newBench(t, nil)
	b.send(false, b.cardPart(1, consentCard()), b.part(2, "a line"))
	b.box.mu.Lock()
	defer b.box.mu.Unlock()
	for _, p := range b.box.posted {
		card := p.ID == b.part(1, "").ID
		channel := chat.ChannelID(simulator.General)
		if card {
			channel = simulator.AliceDM
		}
		if p.Card != card || p.DM != card || p.Channel != channel || p.TS == "" {
			t.Errorf("posted: %+v", p)
		}
	}
	if len(b.box.posted) != 2 {
		t.Errorf("posted: %+v", b.box.posted)
	}
}

// edited is the record of a card that has been posted.
func (b *bench) edited(n int, c chat.Card, of int) chat.Part {
	p := b.cardPart(n, c)
	p.Edits = b.part(of, "").ID
	return p
}

func TestARecordTakesTheCardsPlace(t *testing.T) {
	for name, c := range map[string]chat.Card{"whole": consentCard(), "in pieces": tenCalls(`"`)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			record := c
			record.Ending = ending(chat.ByAnswer, c.Asking.Questions[0].Call)
			// Both wait when the sender comes: the record comes after its card.
			b.send(false, b.cardPart(1, c), b.edited(2, record, 1))
			posts := b.inDM()
			last, all := posts[len(posts)-1], ""
			for _, m := range posts {
				literal, _ := literals(t, m.Blocks)
				all += literal
			}
			if strings.Contains(string(last.Blocks), `"actions"`) || !strings.Contains(string(last.Blocks), "UALICE") {
				t.Errorf("the card is %s", last.Blocks)
			}
			for _, q := range c.Asking.Questions {
				if !strings.Contains(all, q.Arguments) {
					t.Errorf("the arguments of %s are gone", q.Call)
				}
			}
			if !strings.Contains(string(last.Metadata), b.part(1, "").ID) {
				t.Errorf("its metadata is %s", last.Metadata)
			}
		})
	}
}

func TestAnEditIsRepeatedUntilSlackAnswers(t *testing.T) {
	for name, f := range map[string]simulator.Fault{
		"lost": {Method: "chat.update", LoseAnswer: true, Times: 2}, "limited": {Method: "chat.update", Status: 429, Times: 1},
		"form": {Method: "chat.update", Error: "invalid_blocks", Times: 2}, "away": {Method: "chat.update", Status: 503, Times: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.send(false, b.cardPart(1, consentCard()))
			placed := b.box.posted
			b.box = newOutbox()
			b.box.posted = placed // known to the mailbox alone, as to another process
			b.sim.Fail(f)
			record := consentCard()
			record.Ending = ending(chat.ByTime)
			b.send(false, b.edited(2, record, 1))
			if posts := b.inDM(); len(posts) != 1 || strings.Contains(string(posts[0].Blocks), `"actions"`) {
				t.Errorf("there are %d posts: %s", len(posts), posts[0].Blocks)
			}
			b.counted("parts edited", 1)
		})
	}
}

// TestAnEditThatCannotBe is dropped, nobody is told, and what stands behind it
// goes on.
func TestAnEditThatCannotBe(t *testing.T) {
	record := consentCard()
	record.Ending = ending(chat.ByTime)
	t.Run("no post", func(t *testing.T) {
		b := newBench(t, nil)
		b.send(false, b.edited(2, record, 1), b.part(3, "next"))
		b.expect(b.posted(simulator.General, b.root), "next")
		if n := len(b.inDM()) + len(b.sim.Calls("chat.update")); n != 0 {
			t.Errorf("%d posts and updates", n)
		}
	})
	t.Run("refused", func(t *testing.T) {
		b := newBench(t, nil)
		b.sim.Fail(simulator.Fault{Method: "chat.update", Error: "cant_update_message", Times: -1})
		b.send(false, b.cardPart(1, consentCard()), b.edited(2, record, 1), b.part(3, "next"))
		b.expect(b.posted(simulator.General, b.root), "next")
		b.counted("parts edit_refused", 1)
		if n := len(b.inDM()); n != 1 {
			t.Errorf("%d posts in the DM", n)
		}
	})
}

// It is told of what became of a question before the card says so, until that
// succeeds, also where the card cannot be changed any more; and what stands behind
// the card goes out in the end, whatever is wrong.
func TestTheEndOfAQuestionIsTold(t *testing.T) {
	for name, fails := range map[string]int{"at once": 0, "after failures": 2, "never": 1000} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told []chat.Card
			b := newBench(t, func(o *slackapp.SenderOptions) {
				o.Over = func(_ context.Context, c chat.Card) error {
					mu.Lock()
					defer mu.Unlock()
					if told = append(told, c); len(told) <= fails {
						return errors.New("no store")
					}
					return nil
				}
			})
			c := consentCard()
			record := c
			record.Ending = ending(chat.ByStop)
			lost := b.edited(3, record, 9) // of a card that nobody knows
			b.send(false, b.cardPart(1, c), b.edited(2, record, 1), lost)
			mu.Lock()
			defer mu.Unlock()
			if want := fails + 2; fails < 1000 && len(told) != want {
				t.Errorf("told %d times, want %d", len(told), want)
			}
			for _, c := range told {
				if c.Ending == nil || c.Ending.How != chat.ByStop {
					t.Errorf("told of %+v", c.Ending)
				}
			}
			if posts := b.inDM(); !strings.Contains(string(posts[0].Blocks), "Stopped") {
				t.Errorf("the card is %s", posts[0].Blocks)
			}
		})
	}
}
