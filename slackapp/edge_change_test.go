package slackapp_test

import (
	"testing"
	"testing/synctest"
	"time"
)

func changed(now, before object) object {
	return object{"type": "message", "subtype": "message_changed", "channel": "CGENERAL", "channel_type": "channel",
		"ts": ts2, "message": now, "previous_message": before}
}

// What comes together in a conversation goes to the mailbox in its order: an
// edit finds the message that came before it.
func TestP1_ChangesKeepTheirPlaceAmongMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.gate = make(chan struct{})
		s.comes("other", said("under way", object{"ts": "1700000000.000150", "thread_ts": ts1}))
		synctest.Wait()
		s.comes("message", said("<@UBOT> a"))
		s.comes("edit", changed(said("<@UBOT> b", object{"edited": object{"user": "UALICE", "ts": ts2}}), said("<@UBOT> a")))
		s.comes("next", said("c", object{"ts": "1700000000.000300", "thread_ts": ts1}))
		close(s.gate)
		synctest.Wait()
		s.wantDelivered("under way", "a", "b", "c")
		s.wantAcks("other", "message", "edit", "next")
		if len(s.batches) != 2 {
			t.Errorf("%d calls, want 2", len(s.batches))
		}
	})
}

// An edit that changes nothing must not pass for the message that a held
// mention waits for.
func TestP3_AChangeIsNotTheMessageOfAMention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.slack[ts1] = said("<@UBOT> b")
		s.comes("mention", mention("<@UBOT> a"))
		s.comes("edit", changed(said("<@UBOT> b", object{"edited": object{"user": "UBOB", "ts": ts2}}), said("<@UBOT> a")))
		synctest.Wait()
		s.wantAcks("edit")
		<-time.After(2 * hold)
		synctest.Wait()
		s.wantAcks("edit", "mention")
		s.wantLooked("known "+ts1, "fetch CGENERAL "+ts1+" "+ts1)
		s.wantDelivered("b", "b")
	})
}

// In a DM everything keeps its order, since its messages join each other's
// conversations.
func TestP1_ChangesKeepTheirPlaceInADM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.gate = make(chan struct{})
		dm := object{"channel": "DALICE", "channel_type": "im"}
		s.comes("other", said("under way", dm, object{"ts": "1700000000.000001"}))
		synctest.Wait()
		for i, ts := range []string{"1700000000.000101", "1700000000.000102", "1700000000.000103"} {
			s.comes("message "+ts, said(ts, dm, object{"ts": ts}))
			s.comes("deletion "+ts, object{"type": "message", "subtype": "message_deleted", "channel": "DALICE", "channel_type": "im",
				"ts": ts2, "deleted_ts": ts})
			s.comes("stop "+ts, object{"type": "agent_session_stopped", "channel": "DALICE", "thread_ts": ts, "user": "UALICE",
				"event_ts": []string{"1700000000.000301", "1700000000.000302", "1700000000.000303"}[i]})
		}
		close(s.gate)
		synctest.Wait()
		s.wantDelivered("under way", "1700000000.000101", "", "", "1700000000.000102", "", "", "1700000000.000103", "", "")
		if len(s.batches) != 2 {
			t.Errorf("%d calls, want 2: all of a DM takes one way", len(s.batches))
		}
	})
}
