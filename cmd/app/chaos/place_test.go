package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// patience bounds what must come about by itself. A loaded machine is no
// failure.
const patience = 60 * time.Second

// place is a workspace whose people's words are all known.
type place struct {
	*apptest.Place
	t       *testing.T
	redis   *redistest.Server
	outside *outside
	set     apptest.Intervals // of its replicas

	mu    sync.Mutex
	said  []*saying
	heard []heard // what each model request said

	view view
}

// talk is one conversation.
type talk struct {
	channel, root string
	people        []string
	// stops: somebody says stop in it from time to time.
	stops bool
}

// saying is one message that a person said.
type saying struct {
	*talk
	user, ts, word string
	stop           bool
}

// addressed: the bot owes an answer.
func (s *saying) addressed() bool { return !s.stop && s.word[0] != 'c' }

func newPlace(t *testing.T, world *simulator.World, settings ...string) *place {
	t.Helper()
	p := &place{t: t, redis: redistest.Start(t), outside: newOutside(t), set: alone()}
	settings = append([]string{effectsVariable + "=" + p.outside.url, "HTTP_ADDR=127.0.0.1:0"}, settings...)
	p.Place = apptest.NewPlace(t, simulator.Options{World: world, AckTimeout: time.Second, RetryScale: 0.02}, p.redis, settings...)
	p.outside.taken = p.Wake
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		h := listen(r)
		p.mu.Lock()
		p.heard = append(p.heard, h)
		p.mu.Unlock()
		defer p.Wake()
		return h.answer()
	})
	return p
}

// alone is quick without reading back, which would make good what is lost here.
func alone() apptest.Intervals {
	set := quick()
	set.GapAfter = time.Hour
	return set
}

// quick is a tenth of what is shipped, in a workspace that takes posts as fast
// as they come.
func quick() apptest.Intervals {
	set := apptest.Tenth
	set.PostRate, set.ReadRate = 100, 100
	set.ModelWaits = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}
	return set
}

// fresh is a message that a person is about to say, with a word of its own.
func (p *place) fresh(c *talk, user, kind string) *saying {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &saying{talk: c, user: user, word: fmt.Sprintf("%s%04d", kind, len(p.said))}
	p.said = append(p.said, s)
	return s
}

// utter lets him say it. The first message of a conversation is its root.
func (p *place) utter(s *saying, form string) {
	ts := p.Slack.Say(s.user, s.channel, fmt.Sprintf(form, s.word), simulator.SayOptions{Thread: s.root})
	p.mu.Lock()
	defer p.mu.Unlock()
	s.ts = ts
	if s.root == "" {
		s.root = ts
	}
}

func (p *place) say(c *talk, user, kind, form string) *saying {
	s := p.fresh(c, user, kind)
	p.utter(s, form)
	return s
}

const (
	mention = "<@UBOT> %s"
	forced  = "<@UBOT> !! %s"
	plainly = "%s"
)

// stop lets a person say the word that stops.
func (p *place) stop(c *talk, user string) *saying {
	s := &saying{talk: c, user: user, stop: true, ts: p.Slack.Say(user, c.channel, "stop", simulator.SayOptions{Thread: c.root})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, s)
	return s
}

func (p *place) all() []*saying {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*saying(nil), p.said...)
}

// requests are what the model was asked, in order.
func (p *place) requests() []heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard[:len(p.heard):len(p.heard)]
}

// pause lets time pass, which is what some of the tests are about.
func (p *place) pause(d time.Duration) { <-time.After(d) }

// await is Until with more patience, and says what is missing.
func (p *place) await(what string, done func() bool) {
	p.t.Helper()
	if err := p.Wait(patience, done); err != nil {
		p.t.Fatalf("%s: %v\n%s", what, err, p.tail())
	}
}

// tail is the end of the log.
func (p *place) tail() string {
	texts := p.Journal.Texts()
	return strings.Join(texts[max(0, len(texts)-200):], "\n")
}

// story is what the log says of a message and of the turns that it reached.
func (p *place) story(s *saying) string {
	var told []string
	turns := map[string]bool{}
	for _, l := range p.Journal.All() {
		if l.Text("ts") == s.ts || slices.Contains(l.List("messages"), s.ts) {
			turns[l.Text("turn")] = true
		}
	}
	for _, text := range p.Journal.Texts() {
		turn, _, _ := strings.Cut(text[strings.Index(text, `"turn":"`)+len(`"turn":"`):], `"`)
		if strings.Contains(text, s.ts) || strings.Contains(text, `"turn":"t_`) && turns[turn] {
			told = append(told, text)
		}
	}
	return strings.Join(told, "\n")
}
