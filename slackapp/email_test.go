package slackapp_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp/simulator"
)

// TestAnAddressIsAskedForAnew, and is nobody's unless Slack says that it is
// confirmed.
func TestAnAddressIsAskedForAnew(t *testing.T) {
	b := newBench(t, nil)
	p := b.people(newFactStore(), nil)
	alice := simulator.User{ID: simulator.Alice, Name: "alice", Email: "alice@example.com"}
	change := func(change func(*simulator.User)) {
		u := alice
		change(&u)
		b.sim.SetUser(u)
	}
	for name, c := range map[string]struct {
		who    chat.Actor
		change func(*simulator.User)
		want   string
	}{
		"confirmed":          {cardAlice, func(*simulator.User) {}, "alice@example.com"},
		"another since then": {cardAlice, func(u *simulator.User) { u.Email = "a@example.com" }, "a@example.com"},
		"unconfirmed":        {cardAlice, func(u *simulator.User) { u.EmailUnconfirmed = true }, ""},
		"none":               {cardAlice, func(u *simulator.User) { u.Email = "" }, ""},
		"has left":           {cardAlice, func(u *simulator.User) { u.Deleted = true }, ""},
		"nobody":             {chat.Person("T1", "UNOBODY"), func(*simulator.User) {}, ""},
		"elsewhere":          {chat.Person("T2", simulator.Alice), func(*simulator.User) {}, ""},
		"no person":          {chat.SystemActor("scheduler"), func(*simulator.User) {}, ""},
	} {
		change(c.change)
		if got, err := p.Email(b.ctx, c.who); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	b.sim.Fail(simulator.Fault{Method: "users.info", Status: 503})
	if _, err := p.Email(b.ctx, cardAlice); err == nil {
		t.Error("an outage is no address")
	}
}
