package tracker

import (
	"errors"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// stepped is a house at whose server Alice and Bob have accounts that may read, and
// whose file lets a call ask for more.
func stepped(t *testing.T) *house {
	h := newHouse(t, newSite(t))
	h.write(`{"scopes": ["read"], "more_scopes": ["write"]}`, nil)
	h.startsForAlice()
	h.connects(bob, "bob-there")
	return h
}

// refuses has the server refuse a call for want of the scope write.
func (h *house) refuses(who chat.Actor) {
	h.Helper()
	if got := h.calls(who, "change"); !got.Error || !strings.Contains(got.Text, "(write). If it is still wanted, make the call again") {
		h.Fatalf("got %+v", got)
	}
}

func (h *house) lacksWrite(who chat.Actor) *plugins.Connect {
	h.Helper()
	lacking := h.lacks(who, "change")
	if lacking == nil || strings.Join(lacking.Lacking, " ") != "write" || strings.Join(lacking.Scopes, " ") != "read write" {
		h.Fatalf("he is asked for %+v", lacking)
	}
	return lacking
}

func TestServerThatWantsMoreThanTheFileAllows(t *testing.T) {
	h := newHouse(t, newSite(t))
	h.write(`{"scopes": ["read"]}`, nil)
	h.startsForAlice()
	if got := h.calls(alice, "change"); !got.Error || !strings.Contains(got.Text, "Only whoever runs the bot") || h.lacks(alice, "change") != nil {
		t.Errorf("got %+v", got)
	}
}

// Who is asked for more is the one whose call was refused, in its turn, for this
// tool: nobody else, and nothing else.
func TestWhatAServerWantsForACallIsAskedOfItsActorAlone(t *testing.T) {
	h := stepped(t)
	h.refuses(alice)
	lacking := h.lacksWrite(alice)
	if h.lacks(bob, "change") != nil {
		t.Error("Bob is asked for what Alice's call wanted")
	}
	if h.lacks(alice, "whoami") != nil {
		t.Error("another tool wants more too")
	}
	other := asked(alice, "change")
	other.Run.Turn = "t_2"
	if h.gate.Weigh(t.Context(), other).Connect != nil {
		t.Error("another turn of hers is asked for more, before the server has said so there")
	}
	h.connects(alice, "alice-there", lacking.Scopes...)
	if got := h.calls(alice, "change"); got.Text != "you are alice-there" {
		t.Errorf("got %+v", got)
	}
	h.refuses(bob) // the server's answer, to a call that was made
	h.lacksWrite(bob)
	h.spotless()
}

// The turn may go on in another process than that in which the server has refused.
func TestWhatAServerWantsIsKnownInEveryProcess(t *testing.T) {
	h := stepped(t)
	h.refuses(alice)
	h.stop()
	h.start()
	h.ready(2)
	lacking := h.lacksWrite(alice)
	h.connects(alice, "alice-there", lacking.Scopes...)
	if got := h.calls(alice, "change"); got.Text != "you are alice-there" {
		t.Errorf("got %+v", got)
	}
	h.spotless()
}

// A server that goes on refusing what was granted does not have people asked
// without end.
func TestServerThatIsNotContentIsNotAskedForAgain(t *testing.T) {
	h := stepped(t)
	h.site.change(func() { h.site.insatiable = true })
	h.refuses(alice)
	h.connects(alice, "alice-there", h.lacksWrite(alice).Scopes...)
	for range 2 {
		if got := h.calls(alice, "change"); !got.Error || !strings.Contains(got.Text, "(write) that the account of the person for whom you act has granted already") {
			t.Errorf("got %+v", got)
		}
		if got := h.lacks(alice, "change"); got != nil {
			t.Errorf("she is asked again, for %+v", got)
		}
	}
}

// What the file no longer allows is not asked for, whatever was wanted before.
func TestOperatorTakesBackWhatMayBeAskedFor(t *testing.T) {
	h := stepped(t)
	h.refuses(alice)
	h.lacksWrite(alice)
	h.write(`{"scopes": ["read"]}`, nil)
	h.reload <- nil
	h.ready(2)
	if got := h.lacks(alice, "change"); got != nil {
		t.Errorf("she is asked for %+v", got)
	}
}

// A call whose needs cannot be told is not made.
func TestCallWhoseNeedsAreNotKnownIsRefused(t *testing.T) {
	h := stepped(t)
	h.own[alice].fault(errors.New("no store"))
	requests := len(h.site.requests)
	if got := h.calls(alice, "change"); !got.Error || !strings.Contains(got.Text, "could not be checked") || len(h.site.requests) != requests {
		t.Errorf("got %+v", got)
	}
	h.own[alice].fault(nil)
	h.refuses(alice)
}
