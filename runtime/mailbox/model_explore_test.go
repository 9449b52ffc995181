package mailbox_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

var (
	modelTime  = flag.Duration("model.for", 3*time.Second, "how long the model checker may take; 0: until it has seen every state")
	modelDepth = flag.Int("model.depth", 0, "how many events it goes deep; 0: to the end")
	modelScene = flag.String("model.scene", "", "scenes whose names match this alone")
	modelSeed  = flag.Uint64("model.seed", 0, "in which order it takes the scenes; 0: another one each time")
)

// TestP4_Model goes through the states of the turn machine, scene by scene,
// breadth first, and wants the promises kept in each state and by each step.
func TestP4_Model(t *testing.T) {
	only := regexp.MustCompile(*modelScene)
	todo := slices.DeleteFunc(scenes(), func(s scene) bool { return !only.MatchString(s.name) })
	order, seed := seeded()
	order.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	if len(todo) == 0 {
		t.Fatalf("no scene is called %q", *modelScene)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1600))

	total := &totals{scenes: len(todo)}
	if *modelTime > 0 {
		total.deadline = time.Now().Add(*modelTime)
	}
	var group sync.WaitGroup
	for range goruntime.GOMAXPROCS(0) {
		group.Go(func() {
			for s, ok := total.next(&todo); ok; s, ok = total.next(&todo) {
				if err := explore(s, total); err != nil {
					t.Error(err)
					total.failed.Store(true)
					return
				}
			}
		})
	}
	group.Wait()
	t.Logf("%s, seed %d", total, seed)
	if total.states == 0 && !t.Failed() {
		t.Error("no state was seen")
	}
}

// seeded is the order in which things are tried, and what repeats it.
func seeded() (*rand.Rand, uint64) {
	seed := *modelSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	return rand.New(rand.NewPCG(seed, 0)), seed
}

// totals are what has been seen so far.
type totals struct {
	mu       sync.Mutex
	deadline time.Time
	failed   atomic.Bool

	scenes, begun, ended, states, steps, deepest int
	cut                                          []string
}

func (o *totals) next(todo *[]scene) (scene, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(*todo) == 0 || o.begun > 0 && o.late() {
		return scene{}, false
	}
	o.begun++
	s := (*todo)[0]
	*todo = (*todo)[1:]
	return s, true
}

func (o *totals) late() bool {
	return o.failed.Load() || !o.deadline.IsZero() && time.Now().After(o.deadline)
}

func (o *totals) add(x *explorer, steps, depth, left int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states += len(x.seen)
	o.steps += steps
	o.deepest = max(o.deepest, depth)
	if left > 0 {
		o.cut = append(o.cut, fmt.Sprintf("%s: depth %d, %d states to go on from", x.scene.name, depth, left))
	} else {
		o.ended++
	}
}

func (o *totals) String() string {
	text := fmt.Sprintf("%d of %d scenes to the end, %d states, %d steps, deepest %d", o.ended, o.scenes, o.states, o.steps, o.deepest)
	if len(o.cut) > 0 {
		text += "; frontier: " + strings.Join(o.cut, "; ")
	}
	return text
}

// explorer looks at the states of one scene.
type explorer struct {
	scene  scene
	rows   []chat.Row
	bench  *mailbox.Bench
	prefix string
	ctx    context.Context
	// seen are the states so far, and resting those that are known to come to rest.
	seen, resting map[[16]byte]bool
	buffer        []byte
	keys          []string
}

func newExplorer(s scene) (*explorer, error) {
	bench, err := mailbox.NewBench(mailbox.Options{LeaseTTL: modelTTL * time.Millisecond, CallTimeout: time.Hour})
	if err != nil {
		return nil, err
	}
	x := &explorer{scene: s, bench: bench, prefix: bench.Prefix(modelPlace), ctx: context.Background(),
		seen: map[[16]byte]bool{}, resting: map[[16]byte]bool{}}
	for _, m := range s.said {
		x.rows = append(x.rows, runtime.DecideRow(m, s.policy))
	}
	return x, nil
}

// explore goes through one scene until nothing is new, it is deep enough, or it
// is late.
func explore(s scene, total *totals) error {
	x, err := newExplorer(s)
	if err != nil {
		return err
	}
	defer x.bench.Close()
	steps, depth := 0, 0
	level := []*node{x.begin()}
	for len(level) > 0 && (*modelDepth == 0 || depth < *modelDepth) {
		var next []*node
		for i, n := range level {
			if depth > 2 && total.late() { // on a slow machine, too, some is seen
				total.add(x, steps, depth, len(level)-i+len(next))
				return nil
			}
			found, tried, err := x.expand(n)
			if err != nil {
				return err
			}
			next = append(next, found...)
			steps += tried
		}
		if level = next; len(next) > 0 {
			depth++
		}
	}
	total.add(x, steps, depth, len(level))
	if total.deadline.IsZero() {
		fmt.Printf("%s: %d states, %d steps\n", s.name, len(x.seen), steps)
	}
	return nil
}

// begin is the state in which nothing has happened.
func (x *explorer) begin() *node {
	n := &node{}
	n.store.Now = modelBegin
	n.store.SendElsewhere(x.prefix + "conv:" + modelPlace.Key())
	return n
}

// expand takes every step from a state, and answers the new states.
func (x *explorer) expand(n *node) (found []*node, steps int, err error) {
	v := x.view(&n.store)
	for _, e := range x.events(n, v) {
		next, err := x.look(n, v, e)
		if err != nil {
			return nil, 0, fmt.Errorf("%w\n%s", err, x.story(n, e))
		}
		if next != nil {
			found = append(found, next)
		}
		steps++
	}
	return found, steps, nil
}

// look takes one step and checks where it leads to; nil when that is known.
func (x *explorer) look(n *node, v *view, e event) (*node, error) {
	next, err := x.step(n, e)
	if err != nil {
		return nil, err
	}
	there := x.view(&next.store)
	if err := x.moves(e, next, v, there); err != nil {
		return nil, err
	}
	if err := x.rules(next, there); err != nil {
		return nil, err
	}
	hash := x.hash(next, there)
	if x.seen[hash] {
		return nil, nil
	}
	x.seen[hash] = true
	if err := x.repeats(next, int(hash[0])<<8|int(hash[1])); err != nil {
		return nil, err
	}
	return next, x.comesToRest(next)
}

// story is the way to a state, and the event that broke a promise there.
func (x *explorer) story(n *node, last event) string {
	lines := []string{"\n", last.String()}
	for t := n.trace; t != nil; t = t.before {
		lines = append(lines, t.String())
	}
	slices.Reverse(lines[1:])
	lines[0] = "in scene " + x.scene.name
	return strings.Join(lines, "\n  ")
}
