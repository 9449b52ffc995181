package slackapp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"reeve/runtime"
	"reeve/slackapp"
)

func TestP1_AcknowledgedWhenDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.gate = make(chan struct{})
		s.fail["lost"] = errAway
		s.comes("e1", said("kept"))
		synctest.Wait()
		s.wantDelivered("kept")
		s.wantAcks()
		s.comes("e2", said("lost", object{"ts": ts2}))
		close(s.gate)
		synctest.Wait()
		s.wantAcks("e1")
		if n := s.Stats().InFlight; n != 0 {
			t.Errorf("%d in flight", n)
		}
		// Slack delivers the lost one again.
		s.mu.Lock()
		delete(s.fail, "lost")
		s.mu.Unlock()
		s.comes("e2", said("lost", object{"ts": ts2}))
		synctest.Wait()
		s.wantAcks("e1", "e2")
	})
}

func TestWhatArrivesTogetherInAConversationIsDeliveredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.gate = make(chan struct{})
		var texts, ids []string
		for i := range 20 {
			texts, ids = append(texts, fmt.Sprint("m", i)), append(ids, fmt.Sprint("e", i))
			s.comes(ids[i], said(texts[i], object{"ts": fmt.Sprintf("1700000000.%06d", 100+i), "thread_ts": ts1}))
			if i == 0 {
				synctest.Wait() // the first is under way, alone
			}
		}
		close(s.gate)
		synctest.Wait()
		s.wantDelivered(texts...)
		s.wantAcks(ids...)
		if len(s.batches) != 2 {
			t.Errorf("%d calls: %q", len(s.batches), s.batches)
		}
	})
}

func TestWhatIsOfNoInterestIsAcknowledgedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.comes("own", said("x", object{"bot_id": "BBOT"}))
		s.comes("unknown", object{"type": "hologram"})
		s.comes("unfurl", object{"type": "message", "subtype": "message_changed", "channel": "CGENERAL", "ts": ts2,
			"message": said("a", object{"attachments": []object{{"text": "a preview"}}}), "previous_message": said("a")})
		s.comes("stop", object{"type": "agent_session_stopped", "channel": "CGENERAL", "thread_ts": ts1, "user": "UALICE"})
		s.comesAs("click", "interactive", []byte(`{"type":"block_actions"}`))
		s.comesAs("command", "slash_commands", []byte(`{}`))
		s.comesAs("later", "telepathy", []byte(`{}`))
		s.comesAs("list", "events_api", []byte(`[]`))
		s.comesAs("none", "events_api", nil)
		synctest.Wait()
		s.wantAcks("own", "unknown", "unfurl", "stop", "click", "command", "later", "list", "none")
		s.wantDelivered()
	})
}

func TestTooManyInFlightAreLeftToSlack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, func(o *slackapp.EdgeOptions) { o.MaxInFlight = 3 })
		s.gate = make(chan struct{})
		var taken []bool
		for i := range 5 {
			taken = append(taken, s.comes(fmt.Sprint("e", i), said(fmt.Sprint("m", i), object{"ts": fmt.Sprintf("1700000000.%06d", 100+i), "thread_ts": ts1})))
		}
		if !slices.Equal(taken, []bool{true, true, true, false, false}) {
			t.Errorf("taken: %v", taken)
		}
		if st := s.Stats(); st.InFlight != 3 || st.Dropped != 2 {
			t.Errorf("stats: %+v", st)
		}
		close(s.gate)
		synctest.Wait()
		s.wantAcks("e0", "e1", "e2")
		if !s.comes("e3", said("m3")) {
			t.Error("there is room again, and it was not taken")
		}
		synctest.Wait()
		s.wantAcks("e0", "e1", "e2", "e3")
	})
}

func TestStopFinishesTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.gate = make(chan struct{})
		s.comes("e1", said("under way"))
		synctest.Wait()
		s.comes("e2", said("not begun", object{"ts": ts2, "thread_ts": ts1}))
		s.stop()
		close(s.gate)
		if err := <-s.end; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
		s.wantAcks("e1")
		s.wantDelivered("under way")
		if s.comes("e3", said("late")) {
			t.Error("taken after the end")
		}
	})
}

// slowNotices never come back before the end.
type slowNotices struct{ told chan []runtime.Outcome }

func (n slowNotices) Told(ctx context.Context, o []runtime.Outcome) {
	n.told <- o
	<-ctx.Done()
}

func TestNoticesNeverDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := slowNotices{make(chan []runtime.Outcome, 1)}
		s := newStage(t, func(o *slackapp.EdgeOptions) { o.Notices = slow })
		s.comes("e1", said("one"))
		if o := <-slow.told; len(o) != 1 || o[0].Message.Text != "one" {
			t.Errorf("told %+v", o)
		}
		s.comes("e2", said("two", object{"ts": ts2}))
		synctest.Wait()
		s.wantAcks("e1", "e2")
		s.stop()
		<-s.end
	})
}

func TestOnlyDurableOutcomesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.fail["lost"] = errAway
		s.comes("e1", said("lost"))
		s.comes("e2", said("kept", object{"ts": ts2}))
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.told) != 1 || s.told[0].Message.Text != "kept" {
			t.Errorf("told %+v", s.told)
		}
	})
}

// A step that takes long holds up its own conversation and no other.
func TestConversationsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.gate = make(chan struct{})
		s.comes("held", said("held"))
		synctest.Wait()
		s.comes("behind", said("behind", object{"ts": "1700000000.000150", "thread_ts": ts1}))
		for i := range 40 {
			ts := fmt.Sprintf("1700000001.%06d", i)
			s.comes(ts, said("other", object{"ts": ts}))
		}
		synctest.Wait()
		s.mu.Lock()
		begun := slices.Concat(s.batches...)
		s.mu.Unlock()
		if !slices.Contains(begun, "other") || slices.Contains(begun, "behind") {
			t.Errorf("begun while one step is held: %q", begun)
		}
		close(s.gate)
		synctest.Wait()
	})
}
