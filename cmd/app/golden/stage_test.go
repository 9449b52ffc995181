package golden

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// performance is a story while it is played.
type performance struct {
	*story
	place  *apptest.Place
	labels map[string]string // label -> ts
	said   []saying          // in their order
	signs  []sign            // likewise
}

// saying is one message that was written.
type saying struct {
	label, ts, channel, who, text string
	before                        bool
}

// actors finds whose turn a model request is for.
var actors = regexp.MustCompile(`act for the person with the id T1:U[A-Z]+([0-9]+)`)

// route lets each request reach the play of its cast, and then wakes whoever
// waits for it.
func route(stories []*story, wake func()) func(scripted.Request) scripted.Step {
	plays := map[string]*play{}
	for _, s := range stories {
		plays[s.cast.number] = s.play
	}
	return func(r scripted.Request) scripted.Step {
		defer wake()
		if m := actors.FindStringSubmatch(r.Messages[0].Content); m != nil && plays[m[1]] != nil {
			return plays[m[1]].next(r)
		}
		return scripted.Status(400, "")
	}
}

// perform plays a story to its last step.
func (s *story) perform(t *testing.T, p *apptest.Place) *performance {
	t.Helper()
	f := &performance{story: s, place: p, labels: map[string]string{}}
	t.Cleanup(s.play.releaseAll)
	for i, one := range s.steps {
		if err := f.do(one); err != nil {
			t.Fatalf("%s: step %d of the slack section: %v\n%s", s.name, i+1, err, f.shown())
		}
	}
	return f
}

func (f *performance) do(one step) error {
	switch {
	case one.Say != "":
		return f.say(one)
	case one.Edit+one.Delete+one.Unfurl+one.React+one.Press != "":
		return f.change(one)
	case one.Deliver != "":
		return f.deliver(f.labels[one.Deliver])
	case one.Release > 0:
		// A request is released after it is there, or it would not be held.
		if err := f.await(func() bool { return len(f.play.asked()) >= one.Release }); err != nil {
			return err
		}
		if !f.play.release(one.Release) {
			return fmt.Errorf("request %d is not held", one.Release)
		}
		return nil
	case one.Wait != "":
		if one.N == 0 {
			one.N = 1
		}
		return f.await(func() bool { return f.reached(one) })
	}
	return fmt.Errorf("a step that does nothing: %+v", one)
}

func (f *performance) await(done func() bool) error { return f.place.Wait(apptest.Patience, done) }

// reached reports whether what a step waits for has come.
func (f *performance) reached(one step) bool {
	switch one.Wait {
	case "request":
		return len(f.play.asked()) >= one.N
	case "ended":
		return len(f.lines("turn ended")) >= one.N
	case "posts":
		return len(f.posts()) >= one.N
	case "private":
		return len(f.ephemerals()) >= one.N
	case "reaction":
		return slices.Contains(f.reactions(f.labels[one.In]), one.Text)
	}
	panic("unknown wait " + one.Wait)
}

// say writes a message and waits until it is known what became of it.
func (f *performance) say(one step) error {
	label := one.As
	if label == "" {
		label = fmt.Sprintf("m%d", len(f.said)+1)
	}
	if _, used := f.labels[label]; used {
		return fmt.Errorf("two messages are called %s", label)
	}
	options := simulator.SayOptions{Quiet: one.Before}
	switch {
	case one.In != "" && one.In != "top":
		options.Thread = f.labels[one.In]
	case one.In == "" && len(f.said) > 0:
		options.Thread = f.said[0].ts
	}
	switch one.Twin {
	case "", "message_first":
	case "mention_first":
		options.Twin = simulator.MentionFirst
	case "message_only":
		options.Twin = simulator.MessageOnly
	case "mention_only":
		options.Twin = simulator.MentionOnly
	default:
		return fmt.Errorf("unknown twin %q", one.Twin)
	}
	user := f.cast.id(one.Say)
	switch one.By {
	case "":
	case "bot":
		options.Author = simulator.AsBot()
	case "workflow":
		options.Author, user = simulator.AsWorkflow(one.Say), ""
	case "app":
		options.Author = simulator.AsAppFor(simulator.App{AppID: "AHELPER", BotID: "BHELPER"})
	default:
		return fmt.Errorf("unknown author %q", one.By)
	}
	channel := f.cast.channel(one.Channel, one.Say)
	if one.Repeat {
		f.place.Slack.DuplicateNext(1)
	}
	ts, err := f.place.Slack.TrySay(user, channel, f.cast.wire(one.Text), options)
	if err != nil {
		return err
	}
	f.labels[label] = ts
	f.said = append(f.said, saying{label, ts, channel, one.Say, one.Text, one.Before})
	if one.Before || one.Along {
		return nil
	}
	return f.await(func() bool { return len(f.fates(ts)) > 0 || f.settled(ts) })
}

// deliver sends a message's event late.
func (f *performance) deliver(ts string) error {
	for _, s := range f.said {
		if s.ts != ts {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), apptest.Patience)
		defer cancel()
		_, err := f.place.Slack.DeliverEvent(ctx, s.channel, map[string]any{
			"type": "message", "channel": s.channel, "channel_type": "channel", "ts": ts, "event_ts": ts, "thread_ts": f.said[0].ts,
			"user": f.cast.id(s.who), "team": simulator.HomeTeam, "text": f.cast.wire(s.text), "client_msg_id": "late-" + ts,
		})
		return err
	}
	return fmt.Errorf("nothing to deliver")
}

// settled reports whether every event about a message is acknowledged, and
// there is one.
func (f *performance) settled(ts string) bool {
	found := false
	for _, e := range f.place.Slack.Envelopes() {
		var payload struct {
			Event struct {
				TS string `json:"ts"`
			} `json:"event"`
		}
		if json.Unmarshal(e.Payload, &payload) != nil || payload.Event.TS != ts {
			continue
		}
		if e.State != simulator.Acknowledged {
			return false
		}
		found = true
	}
	return found
}

// lines are those of the log that are about the story's conversations.
func (f *performance) lines(msg string) []apptest.Line {
	var found []apptest.Line
	for _, l := range f.place.Journal.With(msg) {
		parts := strings.Split(l.Text("conversation"), ":")
		if len(parts) == 3 && f.cast.owns(parts[1]) {
			found = append(found, l)
		}
	}
	return found
}

// fates are the lines that say what became of a message.
func (f *performance) fates(ts string) []apptest.Line {
	return slices.DeleteFunc(f.lines("message"), func(l apptest.Line) bool { return l.Text("ts") != ts })
}

// channels are those in which something was said, in their order.
func (f *performance) channels() []string {
	var list []string
	for _, s := range f.said {
		if !slices.Contains(list, s.channel) {
			list = append(list, s.channel)
		}
	}
	return list
}

// posts are what the bot has posted, thread by thread: between threads there is
// no order.
func (f *performance) posts() []simulator.Message {
	var posts []simulator.Message
	for _, e := range f.place.Slack.Events(0) {
		if e.Kind == simulator.MessagePosted && e.Message.User == botID && f.cast.owns(e.Message.Channel) {
			posts = append(posts, *e.Message)
		}
	}
	slices.SortStableFunc(posts, func(a, b simulator.Message) int { return strings.Compare(a.ThreadTS, b.ThreadTS) })
	return posts
}

func (f *performance) ephemerals() []simulator.Ephemeral {
	var list []simulator.Ephemeral
	for _, name := range people {
		list = append(list, f.place.Slack.Ephemerals(f.cast.id(name))...)
	}
	return list
}

// reactions are those that stand on a message.
func (f *performance) reactions(ts string) []string {
	var names []string
	for _, channel := range f.channels() {
		for _, root := range append([]string{""}, f.roots(channel)...) {
			for _, m := range f.place.Slack.Messages(channel, root) {
				if m.TS != ts {
					continue
				}
				for _, r := range m.Reactions {
					if !slices.Contains(names, r.Name) {
						names = append(names, r.Name)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

func (f *performance) roots(channel string) []string {
	var roots []string
	for _, m := range f.place.Slack.Messages(channel, "") {
		roots = append(roots, m.TS)
	}
	return roots
}
