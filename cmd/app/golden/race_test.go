package golden

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// rounds is how often a steer races the end of its turn.
const rounds = 60

// A steer is written in the moment in which its turn ends. Whoever wins, its
// message reaches exactly one turn: it is in the running one's next request, or
// it starts a turn of its own. It is answered, and never answered twice.
func TestP3_SteerRacesTheEndOfItsTurn(t *testing.T) {
	t.Parallel()
	world := simulator.DefaultWorld()
	for n := range rounds {
		world.AddChannel(simulator.Channel{ID: raceRoom(n), Name: raceRoom(n), Members: []string{simulator.Alice, botID}})
	}
	p := newPlace(t, world)
	// The provider answers with the last thing that it was asked, at once, and
	// is held back only until the steer is on its way.
	gates := &gates{open: map[string]chan struct{}{}}
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		last := r.Messages[len(r.Messages)-1].Content
		step, release := scripted.Answer(answerTo(last)).Held()
		if gate := gates.of(last); gate != nil {
			go func() { <-gate; release() }()
		} else {
			release()
		}
		p.Wake()
		return step
	})
	r := p.Start(t)
	var players sync.WaitGroup
	const lanes = 4
	for lane := range lanes {
		players.Go(func() {
			for n := lane; n < rounds && !t.Failed(); n += lanes {
				raceRound(t, p, gates, n)
			}
		})
	}
	players.Wait()
	if t.Failed() {
		return
	}
	p.Quiet(300 * time.Millisecond) // nothing comes a second time
	r.Term(t)
	counted := map[string]int{}
	for n := range rounds {
		counted[raceOutcome(t, p, n)]++
	}
	t.Logf("steers that joined the turn: %d, that began their own: %d", counted["joined"], counted["own"])
}

// gates are the answers that are held back, by the last words of the request.
type gates struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

func (g *gates) add(words string) (open func()) {
	gate := make(chan struct{})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[words] = gate
	return sync.OnceFunc(func() { close(gate) })
}

func (g *gates) of(words string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open[words]
}

func request(n int) string { return fmt.Sprintf("request %03d.", n) }
func steer(n int) string   { return fmt.Sprintf("steer %03d.", n) }

func answerTo(words string) string { return strings.ToUpper(words) }

// raceRoom is a round's own channel, since a channel gets one post a second.
func raceRoom(n int) string { return fmt.Sprintf("CR%03d", n) }

func raceRound(t *testing.T, p *apptest.Place, g *gates, n int) {
	open := g.add(request(n))
	defer open()
	root := p.Slack.Say(simulator.Alice, raceRoom(n), "<@UBOT> "+request(n))
	if p.Wait(apptest.Patience, func() bool { return asks(p, request(n)) == 1 }) != nil {
		t.Errorf("round %d: the model is not asked", n)
		return
	}
	// The answer and the steer set out together. Which comes first is as good
	// as thrown.
	interrupt := func() {
		p.Slack.Say(simulator.Alice, raceRoom(n), "<@UBOT> "+steer(n), simulator.SayOptions{Thread: root})
	}
	if n%2 == 0 {
		open()
		interrupt()
	} else {
		interrupt()
		open()
	}
	if p.Wait(apptest.Patience, func() bool { return answers(p, request(n)) > 0 && answers(p, steer(n)) > 0 }) != nil {
		t.Errorf("round %d: answered %d and %d times", n, answers(p, request(n)), answers(p, steer(n)))
	}
}

// asks is in how many requests the words stand as the last thing asked.
func asks(p *apptest.Place, words string) int {
	n := 0
	for _, r := range p.Model.Requests() {
		if r.Messages[len(r.Messages)-1].Content == words {
			n++
		}
	}
	return n
}

// answers is how many posts answer the words.
func answers(p *apptest.Place, words string) int {
	n := 0
	for _, c := range p.Slack.Calls("chat.postMessage") {
		if c.OK && c.Args["text"] == answerTo(words) {
			n++
		}
	}
	return n
}

// raceOutcome says whether a round's steer joined the turn or began its own,
// and fails when the wire shows anything else.
func raceOutcome(t *testing.T, p *apptest.Place, n int) string {
	t.Helper()
	if a, b := asks(p, request(n)), asks(p, steer(n)); a != 1 || b != 1 {
		t.Errorf("round %d: asked %d and %d times", n, a, b)
	}
	if a, b := answers(p, request(n)), answers(p, steer(n)); a != 1 || b != 1 {
		t.Errorf("round %d: answered %d and %d times", n, a, b)
	}
	outcome := ""
	for _, r := range p.Model.Requests() {
		if r.Messages[len(r.Messages)-1].Content != steer(n) {
			continue
		}
		if r.Count(steer(n)) != 1 || r.Count(request(n)) != 1 {
			t.Errorf("round %d: the steer stands %d times in its request, what was before %d times", n, r.Count(steer(n)), r.Count(request(n)))
		}
		// In the turn that it joined, the request stands as one; in its own,
		// as history.
		outcome = "own"
		if len(r.With("assistant", answerTo(request(n)))) == 1 {
			outcome = "joined"
		}
	}
	return outcome
}
