package mailbox_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"reeve/runtime/mailbox"
)

// weather is a store that answers as the test says, and a process that asks
// whether it can be written four times a second. Time does not pass by itself.
type weather struct {
	t    *testing.T
	box  *mailbox.Box
	took time.Duration
	err  error
}

// underWeather plays with the shipped TTL of ten seconds.
func underWeather(t *testing.T, play func(*weather)) {
	synctest.Test(t, func(t *testing.T) {
		box, err := mailbox.Open(mailbox.Options{URL: "redis://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Shutdown()
		w := &weather{t: t, box: box}
		box.Behave(func() (time.Duration, error) { return w.took, w.err })
		play(w)
	})
}

// is lets the store answer so for a while.
func (w *weather) is(span time.Duration, took time.Duration, err error) {
	w.t.Helper()
	w.took, w.err = took, err
	for end := time.Now().Add(span); time.Now().Before(end); {
		_ = w.box.Ready(w.t.Context())
		<-time.After(250 * time.Millisecond)
	}
}

func (w *weather) well(span time.Duration) { w.t.Helper(); w.is(span, time.Millisecond, nil) }

var errGone = errors.New("connection refused")

// A store that is slow for a moment, and again before a TTL is over, does not
// keep lost workers' turns waiting for good, whichever call it is that is slow.
func TestP8_AStoreThatIsSlowOnceATTLPostponesNoTakeover(t *testing.T) {
	for name, trouble := range map[string]func(*weather){
		"a late answer":            func(w *weather) { w.is(time.Millisecond, 1500*time.Millisecond, nil) },
		"one that is not awaited":  func(w *weather) { w.is(1500*time.Millisecond, time.Minute, nil) },
		"connections that are cut": func(w *weather) { w.is(1500*time.Millisecond, 0, errGone) },
	} {
		t.Run(name, func(t *testing.T) {
			underWeather(t, func(w *weather) {
				for range 100 {
					w.well(8 * time.Second)
					trouble(w)
					w.well(time.Millisecond) // the look at the index
					if left := w.box.Unsettled(); left > 0 {
						t.Fatalf("nothing is taken over for another %s", left)
					}
				}
			})
		})
	}
}

// After an outage live workers are given one TTL to come back. Trouble that
// comes meanwhile makes that longer, by its own length and half as much again,
// and does not begin it anew.
func TestP10_AfterAnOutageOneTTLOfAnswers(t *testing.T) {
	const ttl = 10 * time.Second
	underWeather(t, func(w *weather) {
		w.well(time.Minute)
		w.is(7*time.Second, 0, errGone)
		w.well(time.Millisecond)
		if left := w.box.Unsettled(); left < ttl-time.Second || left > ttl {
			t.Fatalf("after an outage: %s, want a TTL", left)
		}
		w.well(ttl / 2)
		w.is(time.Second, 0, errGone)
		w.well(time.Millisecond)
		if left := w.box.Unsettled(); left < ttl/2 || left > ttl*9/10 {
			t.Errorf("after a TTL's half and a second of trouble: %s", left)
		}
		w.is(time.Hour, 0, errGone)
		w.well(ttl - time.Second)
		if w.box.Unsettled() == 0 {
			t.Error("what could renew for less than a TTL is taken over")
		}
		w.well(time.Second)
		if left := w.box.Unsettled(); left > 0 {
			t.Errorf("after a TTL of answers: another %s", left)
		}
	})
}
