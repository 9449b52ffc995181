package chaos

import (
	"slices"
	"testing"
	"time"

	"reeve/cmd/app/apptest"
)

// settle waits until nothing is owed any more: every envelope is settled, and
// every acknowledged message is answered or has been stopped. Then one more
// message in each conversation must be answered: it stands still nowhere.
func (p *place) settle(talks []*talk) (last []*saying) {
	p.t.Helper()
	p.Slack.Heal()
	p.await("every envelope is settled", func() bool { return p.Slack.Unacknowledged() == 0 })
	if p.Wait(patience, func() bool { return len(p.owed()) == 0 }) != nil {
		for _, s := range p.owed() {
			p.t.Errorf("%s of %s in %s is lost, or its conversation stands still:\n%s", s.word, s.user, s.channel, p.story(s))
		}
		p.t.Fatalf("what is owed is not answered after %v\n%s", patience, p.tail())
	}
	for _, c := range talks {
		last = append(last, p.say(c, c.people[0], "p", mention))
	}
	p.await("the last messages are answered", func() bool {
		answered := p.shown().answered
		return !slices.ContainsFunc(last, func(s *saying) bool { return answered[s.word] == 0 })
	})
	p.calm(overtaken)
	return last
}

// calm returns once nothing was posted for a while. Receipts may go on.
func (p *place) calm(span time.Duration) {
	for n := -1; n != len(p.shown().posts); {
		n = len(p.shown().posts)
		_ = p.Wait(span, func() bool { return len(p.shown().posts) != n })
	}
}

// owed are the acknowledged messages that wait for an answer.
func (p *place) owed() (owed []*saying) {
	shown, all := p.shown(), p.all()
	for _, s := range all {
		if s.addressed() && shown.acknowledged[s.channel+s.ts] && shown.answered[s.word] == 0 && !stopped(s, all) {
			owed = append(owed, s)
		}
	}
	return owed
}

// stopped: somebody said stop in its conversation after it, which may have
// covered it.
func stopped(s *saying, all []*saying) bool {
	return slices.ContainsFunc(all, func(o *saying) bool { return o.stop && o.talk == s.talk && o.ts > s.ts })
}

// tally is what a run has shown.
type tally struct {
	said, acknowledged, answered, told, stopped int
}

// check holds the promises against all that Slack and the provider saw.
func (p *place) check(t *testing.T, last []*saying) (n tally) {
	t.Helper()
	acked, answered, all := p.shown().acknowledged, p.shown().answered, p.all()
	for _, s := range all {
		n.said++
		if acked[s.channel+s.ts] {
			n.acknowledged++
		}
		switch {
		case s.stop:
		case !s.addressed():
			if answered[s.word] > 0 {
				t.Errorf("%s asks for nothing, and is answered", s.word)
			}
		case answered[s.word] > 1:
			t.Errorf("%s is answered %d times:\n%s", s.word, answered[s.word], p.story(s))
		case answered[s.word] == 1:
			n.answered++
		case stopped(s, all):
			n.stopped++
		case acked[s.channel+s.ts]:
			t.Errorf("%s is lost:\n%s", s.word, p.story(s))
		}
	}
	p.checkPosts(t)
	p.checkEffects(t)
	p.checkRequests(t, last)
	for _, r := range p.shown().replies {
		n.told += len(r.told)
	}
	return n
}

// checkPosts: a part is posted once (P7).
func (p *place) checkPosts(t *testing.T) {
	t.Helper()
	parts := map[string]int{}
	for _, m := range p.shown().posts {
		if id := apptest.PartOf(m); parts[id] > 0 {
			t.Errorf("part %s stands twice in Slack: %q", id, apptest.ShownText(m))
		}
		parts[apptest.PartOf(m)]++
	}
}

// checkEffects: what may not be repeated was not, what may has one key, and
// what the model was told of it is true (P6).
func (p *place) checkEffects(t *testing.T) {
	t.Helper()
	outcomes := map[string]string{}
	for _, r := range p.shown().replies {
		for w, o := range r.outcome {
			outcomes[w] = o
		}
	}
	for _, s := range p.all() {
		if s.stop || s.word[0] != 'o' && s.word[0] != 'i' {
			continue
		}
		keys := p.outside.of(s.word)
		if s.word[0] == 'o' && len(keys) > 1 {
			t.Errorf("%s took effect %d times", s.word, len(keys))
		}
		if slices.ContainsFunc(keys, func(k string) bool { return k != keys[0] }) {
			t.Errorf("%s took effect under the keys %q", s.word, keys)
		}
		if o := outcomes[s.word]; o == "did" && len(keys) == 0 || o == "unknown" && s.word[0] == 'i' {
			t.Errorf("the model was told %q of %s, which took effect %d times", o, s.word, len(keys))
		}
	}
}

// newest are the last messages of a conversation, as many as its history surely
// holds.
func newest(all []*saying, c *talk) []*saying {
	of := slices.DeleteFunc(slices.Clone(all), func(s *saying) bool { return s.talk != c })
	return of[max(0, len(of)-200):]
}

// checkRequests: no request holds a word twice, and that of a conversation's
// last message holds what was acknowledged in it, chatter included.
func (p *place) checkRequests(t *testing.T, last []*saying) {
	t.Helper()
	acked, all := p.shown().acknowledged, p.all()
	for _, h := range p.requests() {
		known := slices.Clone(h.known)
		slices.Sort(known)
		if once := slices.Compact(slices.Clone(known)); len(once) != len(known) {
			t.Errorf("a request holds a message twice: %q", known)
		}
	}
	for _, l := range last {
		at := slices.IndexFunc(p.requests(), func(h heard) bool { return slices.Contains(h.asked, l.word) })
		if at < 0 {
			continue // its answer is missing, which was said already
		}
		known := p.requests()[at].known
		for _, s := range newest(all, l.talk) {
			if !s.stop && acked[s.channel+s.ts] && !stopped(s, all) && !slices.Contains(known, s.word) {
				t.Errorf("the last turn of %s does not know of %s", s.channel, s.word)
			}
		}
	}
}
