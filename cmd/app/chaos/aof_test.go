package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// Redis loses its last writes in the middle of one: whatever a script wrote is
// there as a whole or not at all, and the conversation goes on from there.
func TestP5_AppendOnlyFileIsCut(t *testing.T) {
	t.Parallel()
	p, talks := newSweep(t)
	r := p.start()
	p.ready(r)
	p.say(talks[0], simulator.Alice, "s", mention)
	p.say(talks[0], simulator.Alice, "o", mention)
	p.say(talks[0], simulator.Bob, "p", mention)
	p.await("the scene is over", func() bool { return p.Slack.Unacknowledged() == 0 && len(p.owed()) == 0 })
	p.calm(overtaken)
	r.Term(t)
	p.redis.Stop()
	whole := apptest.ReadAOF(t, p.redis)
	t.Logf("%d bytes, %d commands, %d steps", len(whole.Text), len(whole.Borders), len(whole.Steps))

	t.Run("it goes on", func(t *testing.T) {
		for i, border := range chosen(whole.Borders, 12) {
			p.goesOn(talks[0], whole, border-i%2*5) // at a border, or within a command
		}
	})
	cuts := offsets(whole)
	for shard := range shards {
		t.Run("all or nothing", func(t *testing.T) {
			t.Parallel()
			wholeSteps(t, whole, cuts[shard*len(cuts)/shards:(shard+1)*len(cuts)/shards])
		})
	}
}

// shards are how many servers try cuts side by side.
const shards = 2

// wholeSteps: what stands in a server after a cut is what stood there before
// the step that was cut.
func wholeSteps(t *testing.T, a *apptest.AOF, cuts []int) {
	s := redistest.Start(t, redistest.Config("enable-debug-command", "local"))
	client := s.Client()
	s.Kill()
	digest := func(offset int) string {
		a.Put(t, s, offset)
		s.Restart()
		defer s.Kill()
		text, err := digestOf(t.Context(), client)
		if err != nil {
			t.Fatalf("cut at %d: %v", offset, err)
		}
		return text
	}
	last, want, seen := -1, "", map[string]bool{}
	for _, offset := range cuts {
		if border := a.Before(offset); border != last {
			last, want = border, digest(border)
			seen[want] = true
		}
		if got := digest(offset); got != want {
			t.Errorf("cut at %d, in the step behind %d: something of it is there", offset, last)
		}
	}
	t.Logf("%d cuts, %d different states", len(cuts), len(seen))
	if len(seen) < 3 {
		t.Error("too few states differ: nothing was seen")
	}
}

// digestOf is a digest of all that a server keeps for good or for many days: what
// it keeps for less ends while it is looked at, or comes near.
func digestOf(ctx context.Context, client *redis.Client) (string, error) {
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil {
		return "", err
	}
	slices.Sort(keys)
	var left []*redis.DurationCmd
	_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, k := range keys {
			left = append(left, p.PTTL(ctx, k))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	ask := []any{"debug", "digest-value"}
	for i, k := range keys {
		if ttl := left[i].Val(); ttl < 0 || ttl > 48*time.Hour {
			ask = append(ask, k)
		}
	}
	if len(ask) == 2 {
		return "nothing", nil
	}
	values, err := client.Do(ctx, ask...).StringSlice()
	return fmt.Sprint(ask[2:], values), err
}

// offsets are where the file is cut: everywhere; or at each border between two
// commands of some steps, and within a command.
func offsets(a *apptest.AOF) (list []int) {
	if *every {
		for offset := range a.Text {
			list = append(list, offset)
		}
		return list
	}
	for _, step := range chosen(a.Steps[:len(a.Steps)-1], 12) {
		for _, b := range a.Borders {
			if b >= step && a.Before(b) == step {
				list = append(list, b, b+9)
			}
		}
	}
	return list
}

// chosen are n of a list, spread over it.
func chosen(list []int, n int) (some []int) {
	for i := range n {
		some = append(some, list[(i+1)*len(list)/(n+1)])
	}
	return slices.Compact(some)
}

// goesOn lets a server go on from a cut and a new process work on it. Slack knows
// of more than the server, which was cut after the fact; so only what is posted
// from now on is looked at: what is said next is answered, nothing is said
// twice, and no message stands twice in what the model is asked.
func (p *place) goesOn(c *talk, a *apptest.AOF, offset int) {
	p.t.Helper()
	a.Put(p.t, p.redis, offset)
	p.redis.Restart()
	before := len(p.shown().posts)
	r := p.start()
	p.ready(r)
	s := p.say(c, simulator.Alice, "p", mention)
	p.await("the conversation goes on", func() bool { return p.shown().answered[s.word] > 0 })
	r.Kill()
	p.redis.Kill()
	parts := map[string]bool{}
	for _, m := range p.shown().posts[before:] {
		if parts[apptest.PartOf(m)] {
			p.t.Errorf("cut at %d: part %s is posted twice", offset, apptest.PartOf(m))
		}
		parts[apptest.PartOf(m)] = true
	}
	p.checkRequests(p.t, nil)
}
