package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"reeve/plugins"
	"reeve/runtime"
	"reeve/runtime/chat"
)

// A turn that waits can end without any run: what was asked has a record all the
// same, and one, however often its card is changed.
func TestS3_QuestionsOfATurnThatEndsAreOnRecord(t *testing.T) {
	stop := func(c *consenting, r *replica, _ chat.Part) {
		m := c.says(alice, "stop")
		m.Stop = true
		c.wants(c.deliver(r, m), chat.Stop)
	}
	for name, test := range map[string]struct {
		end  func(c *consenting, r *replica, card chat.Part)
		how  chat.How
		want []string
	}{
		"stopped": {stop, chat.ByStop, []string{"consent hub_write refused stopped"}},
		"abandoned": {func(c *consenting, r *replica, card chat.Part) {
			if err := r.box.Abandon(c.t.Context(), card.Card.Conversation, card.Turn); err != nil {
				c.t.Fatal(err)
			}
		}, chat.ByAbandoned, []string{"consent hub_write refused abandoned"}},
		"stopped after an answer": {func(c *consenting, r *replica, card chat.Part) {
			c.wants(c.deliver(r, c.says(carol, "and I?")), chat.Start) // so that no run takes the answer up
			c.asked()
			if got := c.answer(r, card, alice, "a_0"); got != chat.AnswerRecorded {
				c.t.Fatalf("the click is %s", got)
			}
			stop(c, r, card)
		}, chat.ByStop, []string{"consent hub_write allowed answered UALICE", "consent hub_write refused stopped"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsenting(t)
			one, two := c.replica(nil), c.replica(nil)
			test.end(c, one, c.conflict(one, "a"))
			record := c.card(alice, chat.ConsentCard, test.how)
			for _, r := range []*replica{one, two, one} {
				if err := r.Record(t.Context(), *record.Card); err != nil {
					t.Fatal(err)
				}
			}
			if got := c.records(); !slices.Equal(got, test.want) {
				t.Errorf("kept: %q, want %q", got, test.want)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, k := range c.kept {
				if k.Turn != record.Turn || k.Actor != alice || k.Principal != alice || k.Arguments != record.Card.Asking.Questions[0].Hash || k.Provider != "hub" {
					t.Errorf("kept: %+v", k)
				}
			}
		})
	}
}

// A wish of which no record is kept is not acknowledged, so that it comes again.
func TestS3_AWishWithoutARecordComesAgain(t *testing.T) {
	c, broken := newConsenting(t), errors.New("no store")
	one := c.replica(func(o *runtime.Options) {
		o.Decided = func(context.Context, plugins.Run, chat.Decision) error { return broken }
	})
	two := c.replica(nil)
	c.conflict(one, "a")
	offer := c.card(bob, chat.OfferCard, "").Card
	if _, err := one.OwnTurn(t.Context(), offer.Conversation, offer.Turn, offer.Messages, bob); !errors.Is(err, broken) {
		t.Errorf("without a record: %v", err)
	}
	if got, err := two.OwnTurn(t.Context(), offer.Conversation, offer.Turn, offer.Messages, bob); got != chat.OwnHandedBack || err != nil {
		t.Errorf("the click that comes again is %s, %v", got, err)
	}
	if got := c.records(); !slices.Contains(got, "consent hand_back allowed handed_back UBOB") {
		t.Errorf("kept: %q", got)
	}
}
