package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// run is one run of TestRounds.
type run struct {
	*place
	dice  *rand.Rand
	talks []*talk
	bots  [2]*apptest.Process
	stale int // of the replicas that are gone
}

// Redis, the bot, or both are killed, and replicas are frozen past their
// leases, while three people speak in several conversations, steer, force and
// stop. In the end nothing that Slack was acknowledged is lost, nothing was
// said twice, no conversation stands still, and writes of lost workers were
// refused: a run in which none was has not looked.
func TestRounds(t *testing.T) {
	t.Parallel()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d rounds, seed %d", *rounds, *seed)
	world, talks := stage()
	r := &run{
		// A turn that is begun again and again, and steered meanwhile, is to be
		// answered and not given up for what it has spent; and what its prompts
		// hold is to be seen whole, and not in a summary.
		place: newPlace(t, world, "MAX_ATTEMPTS=100", "MAX_TURN_TOKENS=100000000", "MAX_STEPS=1000", "CONTEXT_TOKENS=1000000", "SHUTDOWN_GRACE=1s"),
		dice:  rand.New(rand.NewPCG(*seed, 1)), talks: talks,
	}
	if *seed%2 == 0 {
		r.set = quick() // what Slack gave up is read back as well
	}
	r.recover()
	for n := range *rounds {
		if n%len(attacks) == 0 {
			r.dice.Shuffle(len(attacks), func(i, j int) { attacks[i], attacks[j] = attacks[j], attacks[i] })
		}
		attack := attacks[n%len(attacks)]
		began := time.Now()
		r.speak()
		attack.do(r)
		r.speak()
		r.recover()
		t.Logf("round %d: %s, %v", n+1, attack.name, time.Since(began).Round(time.Millisecond))
	}
	last := r.settle(talks)
	n := r.check(t, last)
	looks, late := 0, 0
	for _, b := range r.bots {
		r.stale += counted(b, staleWrites)
		looks += counted(b, "reeve_looks_total")
		late += counted(b, "reeve_late_posts_total")
	}
	t.Logf("%d said, %d acknowledged, %d answered, %d of them as information, %d stopped; %d stale writes refused; of the last replicas %d looks before a post, %d posts after their deadline",
		n.said, n.acknowledged, n.answered, n.told, n.stopped, r.stale, looks, late)
	if r.stale == 0 {
		t.Error("no stale write was refused: this run has not looked at what lost workers write")
	}
	if n.told == 0 || n.answered < *rounds {
		t.Error("next to nothing was answered")
	}
}

const staleWrites = "reeve_stale_writes_total"

// stage is a workspace with a channel for each conversation and Alice's DM.
func stage() (*simulator.World, []*talk) {
	world := simulator.DefaultWorld()
	people := []string{simulator.Alice, simulator.Bob, simulator.Carol}
	talks := []*talk{{channel: simulator.AliceDM, people: people[:1]}}
	for i := range 4 {
		id := fmt.Sprintf("CCHAOS%d", i)
		world.AddChannel(simulator.Channel{ID: id, Name: id, Members: append([]string{"UBOT"}, people...)})
		talks = append(talks, &talk{channel: id, people: people, stops: i == 3})
	}
	return world, talks
}

// speak lets people say something in each conversation, unless they have enough
// to wait for.
func (r *run) speak() {
	answered := r.shown().answered
	for _, c := range r.talks {
		for range 1 + r.dice.IntN(3) {
			user := c.people[r.dice.IntN(len(c.people))]
			if r.waits(c, user, answered) >= 5 {
				continue
			}
			kind := string("ppssoic"[r.dice.IntN(7)])
			form := mention
			switch {
			case kind == "c" && r.known(c) && c.channel != simulator.AliceDM:
				form = plainly
			case kind == "c":
				kind = "p"
			case c.root != "" && r.dice.IntN(5) == 0:
				form = forced
			}
			r.say(c, user, kind, form)
		}
		if c.stops && c.root != "" && r.dice.IntN(3) == 0 {
			r.stop(c, c.people[r.dice.IntN(len(c.people))])
		}
	}
}

// waits is how many messages of a person are not answered yet.
func (r *run) waits(c *talk, user string, answered map[string]int) (n int) {
	all := r.all()
	for _, s := range all {
		if s.talk == c && s.user == user && s.addressed() && answered[s.word] == 0 && !stopped(s, all) {
			n++
		}
	}
	return n
}

// recover sees to it that two replicas live.
func (r *run) recover() {
	for i, b := range r.bots {
		if b == nil || b.Ended() {
			r.bots[i] = r.start()
		}
	}
	for _, b := range r.bots {
		r.ready(b)
	}
}

// lose kills a replica, once it has said what it counted.
func (r *run) lose(i int) {
	r.stale += counted(r.bots[i], staleWrites)
	r.bots[i].Kill()
}

// some lets a moment pass, shorter or longer than a lease lives.
func (r *run) some(most time.Duration) { r.pause(time.Duration(r.dice.Int64N(int64(most)))) }

// overtaken is longer than a lost worker's lease lives.
const overtaken = 1300 * time.Millisecond

// attacks are what happens in a round.
var attacks = []struct {
	name string
	do   func(*run)
}{
	{"a replica is killed", func(r *run) {
		r.some(300 * time.Millisecond)
		r.lose(r.dice.IntN(2))
	}},
	{"both replicas are killed", func(r *run) {
		r.some(300 * time.Millisecond)
		r.lose(0)
		r.lose(1)
		r.some(1500 * time.Millisecond)
	}},
	{"redis is killed", func(r *run) {
		r.some(300 * time.Millisecond)
		r.redis.Kill()
		r.speak()
		r.some(2 * time.Second)
		r.redis.Restart()
	}},
	{"redis and a replica are killed", func(r *run) {
		r.some(300 * time.Millisecond)
		r.redis.Kill()
		r.lose(r.dice.IntN(2))
		r.some(500 * time.Millisecond)
		r.redis.Restart()
	}},
	{"redis and both replicas are killed", func(r *run) {
		r.some(300 * time.Millisecond)
		r.redis.Kill()
		r.lose(0)
		r.lose(1)
		r.redis.Restart()
	}},
	{"a replica is frozen", func(r *run) {
		b := r.bots[r.dice.IntN(2)]
		r.freeze(b)
		r.speak()
		r.pause(overtaken)
		r.wake(b)
	}},
	{"a replica is frozen with a post in flight", func(r *run) {
		// Slack carries the post out and answers when it is too late.
		mark := r.Slack.Mark()
		r.Slack.Fail(simulator.Fault{Method: "chat.postMessage", Delay: 2 * overtaken})
		s := r.say(r.talks[1], simulator.Alice, "p", mention)
		var b *apptest.Process
		if r.Wait(5*time.Second, func() bool {
			for _, e := range r.Slack.Events(mark) {
				if e.Kind == simulator.MessagePosted && apptest.PartOf(*e.Message) != "" {
					i := slices.IndexFunc(r.bots[:], func(b *apptest.Process) bool { return runs(b, apptest.TurnOf(*e.Message)) })
					if i >= 0 {
						b = r.bots[i]
						return true
					}
				}
			}
			return false
		}) != nil {
			r.t.Logf("no post was in flight for %s", s.word)
			return
		}
		r.freeze(b)
		r.pause(overtaken)
		r.wake(b)
	}},
	{"a replica is frozen with a call in flight that must not be repeated", func(r *run) {
		s := r.fresh(r.talks[2], simulator.Bob, "o")
		release := r.outside.hold(s.word)
		defer release()
		r.utter(s, mention)
		var b *apptest.Process
		if r.Wait(10*time.Second, func() bool {
			i := slices.IndexFunc(r.bots[:], func(b *apptest.Process) bool { return b.ID() == r.outside.waiter(s.word) })
			if i >= 0 {
				b = r.bots[i]
			}
			return i >= 0
		}) != nil {
			r.t.Logf("no call was in flight for %s", s.word)
			return
		}
		r.freeze(b)
		r.pause(overtaken)
		release()
		r.wake(b)
	}},
	{"a replica is frozen before it writes", func(r *run) {
		point := []string{"closing", "committing", "boundary"}[r.dice.IntN(3)]
		r.lose(0)
		r.bots[0] = r.start(breakAt(point, 1+r.dice.IntN(2), "stop"), "GOMAXPROCS=1")
		r.ready(r.bots[0])
		for i := 0; r.Wait(200*time.Millisecond, r.bots[0].Frozen) != nil; i++ {
			if i == 20 {
				r.t.Logf("no replica froze at %q", point)
				return
			}
			r.speak()
		}
		r.pause(overtaken)
		r.wake(r.bots[0])
	}},
	{"a replica dies at a point", func(r *run) {
		point := app.Points[r.dice.IntN(len(app.Points))]
		r.lose(1)
		r.bots[1] = r.start(breakAt(point, 1+r.dice.IntN(3), "kill"))
		r.ready(r.bots[1])
		r.speak()
		_ = r.Wait(3*time.Second, r.bots[1].Ended)
		if !r.bots[1].Ended() {
			r.lose(1)
		}
	}},
}
