package mailbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// asks parks the turn on a card for its actor, and answers what was parked.
func (r *run) asks(within time.Duration, texts ...string) mailbox.Parking {
	r.t.Helper()
	got := r.parks(mailbox.Park{Within: within, Card: r.card(), Next: r.w.room(), Entries: entries(texts...),
		Parts: []chat.Part{r.cardPart(r.card(), nil)}, Void: new(r.cardPart(r.card()+".v", nil))})
	if !got.Parked {
		r.t.Fatalf("not parked: %+v", got)
	}
	return got
}

// card is the id of the card of the turn's next wait, or, while it waits, of that.
func (r *run) card() string { return string(r.Turn) + "/card" }

func (r *run) cardPart(id string, ending *chat.Ending) chat.Part {
	p := chat.Part{
		ID: id, Turn: r.Turn, To: chat.Destination{DM: r.claimed.Actor.User}, Markdown: "may I? @how \x01how \x01time",
		Card: &chat.Card{Kind: chat.ConsentCard, Turn: r.Turn, Ending: ending, Asking: &chat.Asking{
			Questions: []chat.Question{{Call: "call", Arguments: `{"text":"\u0001how"}` + " \x01how @now"}},
		}},
	}
	if id != r.card() {
		p.Edits = r.card()
	}
	return p
}

// clicks answers the card, as somebody.
func (r *run) clicks(box *mailbox.Box, who chat.Actor, next mailbox.Next) mailbox.WaitEnd {
	r.t.Helper()
	got, err := box.EndWait(context.Background(), r.click(who, next))
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *run) click(who chat.Actor, next mailbox.Next) mailbox.EndingWait {
	ending := chat.Ending{How: chat.ByAnswer, By: &who, Time: clicked, Allowed: []string{"call"}}
	return mailbox.EndingWait{
		Conversation: r.Conversation, Turn: r.Turn, Wait: r.wait(), By: who, Ending: ending, Next: next,
		Parts: []chat.Part{r.cardPart(r.card()+".a", &ending)},
	}
}

// outbox is what stands in the outbox, of cards with how their wait has ended.
func (w *world) outbox() []string {
	w.t.Helper()
	unsent, _, err := w.box.Unsent(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	all := []string{}
	for _, u := range unsent {
		_, name, _ := strings.Cut(u.ID, "/")
		if u.Bad != "" {
			w.t.Fatalf("part %s cannot be posted: %s", u.ID, u.Bad)
		}
		if u.Card != nil && u.Card.Ending != nil {
			name += " " + string(u.Card.Ending.How)
		}
		all = append(all, name)
	}
	return all
}

func (w *world) wantOutbox(want ...string) {
	w.t.Helper()
	w.same("the outbox", want, w.outbox())
}

// voidPart is the part that says how the wait ended, as it is to be posted.
func (w *world) voidPart() chat.Part {
	w.t.Helper()
	unsent, _, err := w.box.Unsent(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range unsent {
		if strings.HasSuffix(u.ID, ".v") {
			return u.Part
		}
	}
	w.t.Fatal("nothing is said of the end of the wait")
	return chat.Part{}
}

// waits are how the turn's waits have ended, and by whom.
func (r *run) waits() []string {
	r.t.Helper()
	s, err := r.box.Story(context.Background(), r.Conversation, r.Turn)
	if err != nil {
		r.t.Fatal(err)
	}
	all := []string{}
	for _, w := range s.Waits {
		if time.Since(w.Asked).Abs() > time.Hour || !w.Ended.IsZero() && w.Ended.Before(w.Asked) {
			r.t.Errorf("times of a wait: %+v", w)
		}
		all = append(all, strings.Join(strings.Fields(w.Kind+" "+string(w.How)+" "+string(w.By.User)), " "))
	}
	return all
}

// Whatever ends a wait without an answer says so on its card, in the step that
// ends it, once; and the turn is told the same.
func TestP5_TheCardSaysHowItsWaitEnded(t *testing.T) {
	for _, c := range []struct {
		wait   string // as the story tells it
		outbox []string
		ends   func(*run)
	}{
		{"consent expired", []string{"card", "card.v expired"}, func(r *run) { r.expires() }},
		{"consent overtaken UALICE", []string{"card", "card.v overtaken"}, func(r *run) {
			r.resumed(r.w.says(chat.EndWait, alice, "two", forced).Claimed, nil)
		}},
		{"consent connected", []string{"card", "card.v connected"}, func(r *run) {
			_, got, err := r.endWait(r.w.other, r.wait(), r.w.room())
			r.resumed(got, err)
		}},
		{"consent stopped UALICE", []string{"card", "s", "card.v stopped"}, func(r *run) { r.w.says(chat.Stop, alice, "stop", stop) }},
		{"consent stopped", []string{"card", "s", "card.v stopped"}, func(r *run) { r.w.deletes(chat.Stop, r.w.clock) }},
		{"consent abandoned", []string{"card", "card.v abandoned", "o"}, func(r *run) {
			err := r.w.box.Abandon(context.Background(), r.Conversation, r.Turn)
			if err != nil && !errors.Is(err, mailbox.ErrNotOpen) { // a repeated call finds it ended
				r.t.Fatal(err)
			}
		}},
		{"consent undelivered", []string{"card.v undelivered"}, func(r *run) { r.refused(r.card()) }},
	} {
		t.Run(c.wait, func(t *testing.T) {
			onEveryStore(t, mailbox.Options{}, func(w *world) {
				turn := w.starts(alice, "one")
				within := time.Hour
				if c.wait == "consent expired" {
					within = time.Millisecond
				}
				parking := turn.asks(within)
				turn.send = parking.Send
				w.wantOutbox("card")
				w.same("the waits", []string{"consent"}, turn.waits())
				c.ends(turn)
				w.wantOutbox(c.outbox...)
				w.same("the waits", []string{c.wait}, turn.waits())
				void := w.voidPart()
				how := chat.How(strings.Fields(c.wait)[1])
				want := turn.cardPart(turn.card()+".v", &chat.Ending{How: how, Time: void.Card.Ending.Time})
				want.Written = void.Written
				w.same("the part", want, void)
				if age := time.Since(void.Card.Ending.Time); age < -time.Second || age > time.Minute {
					t.Errorf("it ended %v ago", age)
				}
				if age := time.Since(void.Written.Time()); age < -time.Second || age > time.Minute {
					t.Errorf("it was written %v ago", age)
				}
				if end := turn.clicks(w.other, alice, w.room()); end.Ended || end.NotYours || end.Send != nil {
					t.Errorf("a click that comes late: %+v", end)
				}
				if end := turn.clicks(w.box, bob, w.room()); !end.NotYours || end.Ended {
					t.Errorf("somebody else's click that comes late: %+v", end)
				}
				w.wantOutbox(c.outbox...)
				due, err := w.box.Due(t.Context())
				if err != nil || !slices.ContainsFunc(due, func(d mailbox.Due) bool { return d.Kind == mailbox.DueSend }) {
					t.Errorf("nobody is to post it: %+v %v", due, err)
				}
			})
		})
	}
}

// expires ends the wait when its time is over, by the store's clock.
func (r *run) expires() *run {
	r.t.Helper()
	for {
		ended, got, err := r.w.other.ExpireWait(context.Background(), r.Conversation, r.Turn, r.w.room())
		if ended || err != nil {
			return r.resumed(got, err)
		}
		<-time.After(time.Millisecond)
	}
}

// refused lets Slack refuse a part for good, and wants what tells of the end of
// the turn's wait to be left to the sender.
func (r *run) refused(id string) {
	r.t.Helper()
	left, err := r.box.Sent(context.Background(), *r.send, mailbox.Posted{ID: id, Unsent: &mailbox.Unsent{Why: "cannot_dm_bot"}})
	if err != nil || len(left) != 1 || left[0].ID != r.card()+".v" {
		r.t.Fatalf("left to the sender: %+v %v", left, err)
	}
	r.resumed(r.w.claim(r.w.other).Claimed, nil)
}

// resumed wants the turn to go on, and to be told how its wait ended.
func (r *run) resumed(got *mailbox.Claimed, err error) *run {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	again := r.w.runs(got)
	waits := r.waits()
	if e := again.claimed.Waited.Ended; again.Turn != r.Turn || e.How == "" || e.Time.IsZero() || !strings.Contains(waits[len(waits)-1], string(e.How)) {
		r.t.Errorf("turn %s goes on: %+v; its waits: %q", again.Turn, again.claimed.Waited, waits)
	}
	return again
}
