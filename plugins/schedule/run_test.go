package schedule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reeve/plugins"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

// asked is a host with one reminder of Alice's, and a replica that knows of it.
func asked(t *testing.T, arguments string, change ...plugintest.Option) (*plugintest.Host, *Plugin) {
	t.Helper()
	h := plugintest.New(t, New(), change...) // it is Monday, 2 March 2026, 9:00 UTC
	turn := h.As(plugintest.Alice, "remind me")
	if got := turn.Calls("schedule_create", arguments); got.Error {
		t.Fatal(got.Text)
	}
	return h, open(h.Services())
}

func looks(t *testing.T, p *Plugin) time.Duration {
	t.Helper()
	wait, err := p.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

// story is what was started, a line each.
func story(h *plugintest.Host) string {
	var lines []string
	for _, d := range h.Started() {
		line := d.At.Format("15:04") + " " + d.Text
		if d.Report {
			line = "reported: " + line
		}
		if d.Note != "" {
			line += " (" + d.Note + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func left(t *testing.T, h *plugintest.Host) int {
	t.Helper()
	home := h.Extension().Home
	items, err := home.Items(t.Context(), plugintest.Alice)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range items {
		if item.ID != "" {
			n++
		}
	}
	keys, err := h.Services().Store(plugintest.Alice).Keys(t.Context())
	if err != nil || n == 0 && len(keys) > 0 {
		t.Errorf("nothing is left, but %q, %v", keys, err)
	}
	return n
}

func TestOnceWhenItIsDue(t *testing.T) {
	h, p := asked(t, `{"text":"tea","at":"in 2 minutes"}`)
	if wait := looks(t, p); wait != time.Minute {
		t.Errorf("looks again in %v", wait)
	}
	h.Advance(90 * time.Second)
	if wait := looks(t, p); wait != 30*time.Second || story(h) != "" {
		t.Errorf("looks again in %v; started %q", wait, story(h))
	}
	h.Advance(30 * time.Second)
	looks(t, p)
	looks(t, p)
	d := h.Started()
	if story(h) != "09:02 tea" || d[0].CreatedBy != plugintest.Alice || d[0].Conversation.Channel != "C0PLAY" || !d[0].Created.Equal(plugintest.Start) {
		t.Errorf("started %+v", d)
	}
	if left(t, h) != 0 {
		t.Error("it is still listed")
	}
}

func TestRecurringWorkGoesOnToItsEnd(t *testing.T) {
	h, p := asked(t, `{"text":"tea","at":"in 1 hours","every":"1 hour","times":3}`)
	for range 60 * 6 {
		h.Advance(time.Minute)
		looks(t, p)
	}
	if story(h) != "10:00 tea\n11:00 tea\n12:00 tea" || left(t, h) != 0 {
		t.Errorf("started %q", story(h))
	}
}

// Nobody ran when it was due.
func TestAfterADowntime(t *testing.T) {
	for _, c := range []struct {
		arguments string
		away      time.Duration
		want      string
	}{
		{`{"text":"tea","at":"in 10 minutes"}`, 11 * time.Minute, "09:10 tea"},
		{`{"text":"tea","at":"in 10 minutes"}`, 40 * time.Minute, "09:10 tea (It was due at Mon 2 Mar 2026, 09:10 (UTC) and comes late.)"},
		{`{"text":"tea","at":"in 10 minutes"}`, 3 * time.Hour, "reported: 09:10 tea (It was due at Mon 2 Mar 2026, 09:10 (UTC), and I was not running then. It was missed.)"},
		{`{"text":"tea","at":"in 1 hour","every":"1 hour"}`, 5*time.Hour + time.Minute, "14:00 tea ( 4 before it were missed, the first at Mon 2 Mar 2026, 10:00 (UTC).)"},
		{`{"text":"tea","at":"in 1 hour","every":"1 hour"}`, 2*time.Hour + 30*time.Minute, "11:00 tea (It was due at Mon 2 Mar 2026, 11:00 (UTC) and comes late. One before it was missed.)"},
		{`{"text":"tea","at":"10:00","every":"day","zone":"UTC"}`, 60 * time.Hour, "reported: 10:00 tea (It was due 3 times from Mon 2 Mar 2026, 10:00 (UTC) to Wed 4 Mar 2026, 10:00 (UTC), and I was not running then. They were missed.)"},
	} {
		h, p := asked(t, c.arguments)
		h.Advance(c.away)
		for range 3 {
			looks(t, p)
			looks(t, open(h.Services())) // another replica, which starts now
		}
		if got := story(h); got != c.want {
			t.Errorf("%s, after %v:\n%q, want\n%q", c.arguments, c.away, got, c.want)
		}
		if n := left(t, h); strings.Contains(c.arguments, "every") != (n == 1) {
			t.Errorf("%s: %d are left", c.arguments, n)
		}
	}
}

// A replica dies between the start and the note that it is over: the next one
// finds out, and nothing is given or reported a second time.
func TestDeathBehindTheStart(t *testing.T) {
	for _, away := range []time.Duration{0, 3 * time.Hour} {
		h, _ := asked(t, `{"text":"tea","at":"in 10 minutes"}`)
		h.Advance(10 * time.Minute)
		services := h.Services()
		start := services.Start
		services.Start = func(ctx context.Context, d plugins.Due) (bool, error) {
			_, err := start(ctx, d)
			h.StoreAway(errors.New("killed"))
			return false, errors.Join(err, errors.New("killed"))
		}
		p := open(services)
		_, _ = p.look(t.Context())
		h.StoreAway(nil)
		h.Advance(away)
		looks(t, open(h.Services()))
		if story(h) != "09:10 tea" || left(t, h) != 0 {
			t.Errorf("after %v: %q", away, story(h))
		}
	}
}

// A cancel that comes while the job begins is not undone by what follows.
func TestACancelIsNotUndone(t *testing.T) {
	var cancel func()
	h, p := asked(t, `{"text":"tea","at":"in 1 hour","every":"1 hour"}`, plugintest.Due(func(plugins.Due) error { cancel(); return nil }))
	cancel = func() {
		ids, _ := idsOf(t.Context(), h.Services().Store(plugintest.Alice))
		if _, err := p.withdraw(t.Context(), plugintest.Alice, ids[0]); err != nil {
			t.Error(err)
		}
		cancel = func() {}
	}
	for range 8 {
		h.Advance(time.Hour)
		looks(t, p)
		h.Advance(orphanAfter)
		looks(t, open(h.Services()))
	}
	if story(h) != "10:00 tea" || left(t, h) > 0 {
		t.Errorf("started %q", story(h))
	}
}

// A replica of an older release cannot read what a newer one keeps, and leaves it.
func TestAReminderOfALaterReleaseStays(t *testing.T) {
	h, p := asked(t, `{"text":"tea","at":"in 10 minutes"}`)
	store := h.Services().Store(plugintest.Alice)
	ids, err := idsOf(t.Context(), store)
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v %v", ids, err)
	}
	ours, _, err := store.Get(t.Context(), jobKey(ids[0]))
	if err != nil {
		t.Fatal(err)
	}
	theirs := bytes.Replace(ours, []byte(`"v":1`), []byte(`"v":2`), 1)
	if err := store.Set(t.Context(), jobKey(ids[0]), theirs); err != nil {
		t.Fatal(err)
	}
	looks(t, p)
	for range 3 {
		h.Advance(orphanAfter)
		looks(t, p)
	}
	if kept, _, err := store.Get(t.Context(), jobKey(ids[0])); err != nil || !bytes.Equal(kept, theirs) || story(h) != "" {
		t.Fatalf("kept is %q, %v; started %q", kept, err, story(h))
	}
	if err := store.Set(t.Context(), jobKey(ids[0]), ours); err != nil {
		t.Fatal(err)
	}
	if looks(t, open(h.Services())); !strings.HasPrefix(story(h), "09:10 tea (It was due at") {
		t.Errorf("started %q", story(h))
	}
}

func TestWhatCannotBeginNowIsTriedAgainAndWhatNeverCanIsEnded(t *testing.T) {
	full := true
	h, p := asked(t, `{"text":"tea","at":"in 10 minutes"}`, plugintest.Due(func(plugins.Due) error {
		if full {
			return errors.New("too much waits there")
		}
		return nil
	}))
	h.Advance(10 * time.Minute)
	if wait := looks(t, p); wait != lookEvery || story(h) != "" || left(t, h) != 1 {
		t.Errorf("waits %v; %q", wait, story(h))
	}
	full = false
	h.Advance(lookEvery)
	if looks(t, p); story(h) != "09:10 tea" {
		t.Errorf("started %q", story(h))
	}
	h, p = asked(t, `{"text":"tea","at":"in 1 hour","every":"1 hour"}`, plugintest.Due(func(plugins.Due) error { return plugins.Refusal("she has left") }))
	h.Advance(time.Hour)
	looks(t, p)
	if left(t, h) != 0 {
		t.Error("it goes on after its creator has left")
	}
}

// Fifty fall due at once, on three replicas that look at the same time.
func TestReplicasRace(t *testing.T) {
	h := plugintest.New(t, New())
	turn := h.As(plugintest.Alice, "remind me")
	for n := range perPerson {
		turn.Calls("schedule_create", fmt.Sprintf(`{"text":"%d","at":"in 1 hour","every":"1 hour"}`, n))
	}
	for range 3 {
		h.Advance(time.Hour)
		var racing sync.WaitGroup
		for range 3 {
			racing.Go(func() { looks(t, open(h.Services())) })
		}
		racing.Wait()
	}
	times := map[string]int{}
	for _, d := range h.Started() {
		times[d.Text+d.At.String()]++
	}
	if len(times) != 3*perPerson || len(h.Started()) != 3*perPerson {
		t.Errorf("%d started, of %d times", len(h.Started()), len(times))
	}
}

// What costs: a look a minute, at one round trip, whatever there is.
func TestAnIdleReplicaLooksOnceAMinute(t *testing.T) {
	h, p := asked(t, `{"text":"tea","at":"in 5 hours"}`)
	looks(t, p)
	services, trips := h.Services(), 0
	store := services.Store
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p.wake = make(chan struct{}, 1)
		p.services.Now = func() time.Time { return plugintest.Start.Add(time.Since(began)) }
		p.services.Store = func(person chat.Actor) plugins.Store { trips++; return store(person) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := p.run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	if trips > 61 {
		t.Errorf("%d round trips in an hour", trips)
	}
}

func TestWhatCannotBeReadIsLeftAlone(t *testing.T) {
	h, _ := asked(t, `{"text":"tea","at":"in 1 hour"}`)
	ids, _ := idsOf(t.Context(), h.Services().Store(plugintest.Alice))
	if err := h.Store(plugintest.Alice).Set(t.Context(), jobKey(ids[0]), []byte(`{"v":2}`)); err != nil {
		t.Fatal(err)
	}
	p := open(h.Services())
	for range 3 {
		h.Advance(time.Hour)
		looks(t, p)
	}
	if story(h) != "" {
		t.Errorf("started %q", story(h))
	}
}
