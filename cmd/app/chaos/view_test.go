package chaos

import (
	"encoding/json"

	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// view is what Slack has shown so far, put together event by event: a long run
// is longer than what Slack remembers of it.
type view struct {
	mark int64 // the last event that was looked at
	// acknowledged are the channel and ts of messages of which an envelope was.
	acknowledged map[string]bool
	// posts are all that came out of an outbox, and replies those that answer.
	posts   []simulator.Message
	replies []reply
	// answered counts, by word, in how many replies it was asked or told.
	answered map[string]int
}

// shown is the view as of now. It belongs to the test's own goroutine.
func (p *place) shown() *view {
	v := &p.view
	if v.answered == nil {
		v.acknowledged, v.answered = map[string]bool{}, map[string]int{}
	}
	for _, e := range p.Slack.Events(v.mark) {
		v.mark = e.Seq
		switch {
		case e.Kind == simulator.Acked:
			var payload struct {
				Event struct{ Channel, TS string } `json:"event"`
			}
			if json.Unmarshal(e.Envelope.Payload, &payload) == nil {
				v.acknowledged[payload.Event.Channel+payload.Event.TS] = true
			}
		case e.Kind == simulator.MessagePosted && apptest.PartOf(*e.Message) != "":
			v.post(*e.Message)
		}
	}
	return v
}

// known reports whether a thread is the bot's for sure. Slack keeps no order among
// sockets: chatter that overtakes the message that begins its thread is nobody's.
func (p *place) known(c *talk) bool { return p.shown().acknowledged[c.channel+c.root] }

func (v *view) post(m simulator.Message) {
	v.posts = append(v.posts, m)
	r, ok := readReply(apptest.ShownText(m))
	if !ok {
		return
	}
	v.replies = append(v.replies, r)
	for _, w := range r.asked {
		v.answered[w]++
	}
	for _, w := range r.told {
		v.answered[w]++
	}
}
