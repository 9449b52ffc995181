package slackapp_test

import (
	"testing"
	"testing/synctest"
	"time"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// mention is the app_mention twin of said.
func mention(text string, changes ...object) object {
	return said(text, append([]object{{"type": "app_mention", "channel_type": nil, "client_msg_id": nil}}, changes...)...)
}

const hold = 500 * time.Millisecond

func TestP3_MessageThenMention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.comes("message", said("<@UBOT> hi"))
		s.comes("mention", mention("<@UBOT> hi"))
		synctest.Wait()
		s.wantAcks("message", "mention")
		s.wantDelivered("hi")
		s.comes("again", mention("<@UBOT> hi"))
		synctest.Wait()
		s.wantAcks("message", "mention", "again")
		s.wantLooked()
	})
}

func TestP3_MentionThenMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		start := time.Now()
		s.comes("mention", mention("<@UBOT> hi"))
		s.comes("retry", mention("<@UBOT> hi"))
		s.comes("other", said("not held up", object{"ts": ts2}))
		synctest.Wait()
		s.wantAcks("other")
		s.comes("message", said("<@UBOT> hi"))
		synctest.Wait()
		s.wantAcks("other", "message", "mention", "retry")
		s.wantDelivered("not held up", "hi")
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %s though the message came", waited)
		}
		<-time.After(2 * hold)
		synctest.Wait()
		s.wantLooked()
	})
}

func TestP3_MentionOfAMessageThatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// What the message's own stamps say holds, though the mention lacks
		// them.
		s := newStage(t)
		s.comes("mention", mention("<@UBOT> hi"))
		s.comes("message", said("<@UBOT> hi", object{"subtype": "channel_topic"}))
		synctest.Wait()
		s.wantAcks("message", "mention")
		s.wantDelivered()
	})
}

func TestP3_MentionWaitsForADurableMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.fail["hi"], s.keysErr = errAway, errAway
		s.comes("mention", mention("<@UBOT> hi"))
		s.comes("message", said("<@UBOT> hi"))
		synctest.Wait()
		s.wantAcks()
		<-time.After(hold)
		synctest.Wait()
		s.wantAcks()
		if n := s.Stats().InFlight; n != 0 {
			t.Errorf("%d in flight", n)
		}
	})
}

// TestP3_MentionAlone is what becomes of a mention whose message this process
// never sees.
func TestP3_MentionAlone(t *testing.T) {
	inThread := object{"ts": ts2, "thread_ts": ts1}
	for name, c := range map[string]struct {
		event  object
		known  bool
		slack  any
		keys   error
		looked []string
		want   []string // delivered
		lost   bool     // not acknowledged
	}{
		"another replica took it": {event: mention("<@UBOT> hi"), known: true, looked: []string{"known " + ts1}},
		"only Slack has it": {event: mention("<@UBOT> hi"), slack: said("<@UBOT> hi, with more"),
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}, want: []string{"hi, with more"}},
		"a reply": {event: mention("<@UBOT> hi", inThread), slack: said("<@UBOT> hi", inThread),
			looked: []string{"known " + ts2, "fetch CGENERAL " + ts1 + " " + ts2}, want: []string{"hi"}},
		"nobody has it": {event: mention("<@UBOT> hi"),
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}, want: []string{"hi"}},
		"nobody has it, by an app": {event: mention("<@UBOT> hi", object{"app_id": "AZAP"}),
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}},
		"nobody has it, by a bot": {event: mention("<@UBOT> hi", object{"user": nil, "bot_id": "BX"}),
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}},
		"of ourselves, Slack says": {event: mention("<@UBOT> hi"), slack: said("<@UBOT> hi", object{"app_id": "ABOT"}),
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}},
		"another message": {event: mention("<@UBOT> hi"), slack: said("<@UBOT> no", object{"ts": ts2}),
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}},
		"Slack is away": {event: mention("<@UBOT> hi"), slack: errAway, lost: true,
			looked: []string{"known " + ts1, "fetch CGENERAL " + ts1 + " " + ts1}},
		"the mailbox is away": {event: mention("<@UBOT> hi"), keys: errAway, lost: true, looked: []string{"known " + ts1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				ts := c.event["ts"].(string)
				s.known[chat.TS(ts)], s.slack[chat.TS(ts)], s.keysErr = c.known, c.slack, c.keys
				s.comes("mention", c.event)
				<-time.After(hold - time.Millisecond)
				synctest.Wait()
				s.wantAcks()
				s.wantLooked()
				<-time.After(time.Millisecond)
				synctest.Wait()
				s.wantLooked(c.looked...)
				s.wantDelivered(c.want...)
				if c.lost {
					s.wantAcks()
				} else {
					s.wantAcks("mention")
				}
				if n := s.Stats().InFlight; n != 0 {
					t.Errorf("%d in flight", n)
				}
			})
		})
	}
}

func TestP3_FetchedAppPostIsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.slack[ts1] = said("<@UBOT> hi", object{"app_id": "AZAP"})
		s.comes("mention", mention("<@UBOT> hi"))
		<-time.After(hold)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.told) != 1 || s.told[0].Message.Standing != "context_only" || s.told[0].Message.Addressed {
			t.Errorf("got %+v", s.told)
		}
	})
}

func TestHeldMentionsCountAsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, func(o *slackapp.EdgeOptions) { o.MaxInFlight = 1 })
		s.comes("mention", mention("<@UBOT> hi"))
		synctest.Wait()
		if s.comes("other", said("x", object{"ts": ts2})) {
			t.Error("taken beyond the bound")
		}
		s.stop()
		<-s.end
		s.wantAcks()
	})
}
