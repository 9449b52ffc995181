package histories

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// house is a world in this process: replicas on the store of a lane, a Slack, and
// a model that waits for what it is to answer.
type house struct {
	*lane
	dice     *dice
	loop     *agent.Loop
	in       chat.Conversation
	base     int64 // seconds of all timestamps
	replicas []*replica

	mu      sync.Mutex
	changed chan struct{} // closed when anything below is another
	count   int           // of what has happened
	problem string        // the first
	asks    []*ask
	said    []said
	posts   []post
	made    []made
	clicked []click
	// active counts the runs of each turn that are under way; dead are turns whose
	// worker is lost, and senders how many senders are.
	active  map[chat.TurnID]int
	dead    map[chat.TurnID]bool
	actors  map[chat.TurnID]int // as the runs say, for whoever looks
	senders int
	// runs counts all runs, and latest is the number of each turn's last.
	runs   int
	latest map[chat.TurnID]int
	// dieIn counts the steps of logs until a worker is lost; 0: none will be.
	dieIn        int
	mute, refuse bool
	accounts     map[chat.Actor]bool
	deaths       int
}

// said is a message, as it was written first.
type said struct {
	chat.Message
	words   int
	outcome runtime.Outcome
	changed bool      // edited, deleted, or stopped
	edits   []chat.TS // their own timestamps
	// mark is what tells its text from all others, where that is not made of its
	// timestamp.
	mark string
}

func (m said) token() string { return cmp.Or(m.mark, token(m.ID.TS)) }

// click is an answer to a card that somebody has given.
type click struct {
	at      int // when it was made
	turn    chat.TurnID
	wait    string
	by      chat.Actor
	allowed []string
	how     chat.How
	// counted: it was said to count.
	counted bool
}

// replica is one process.
type replica struct {
	*runtime.Runtime
	stop context.CancelFunc
	done chan struct{}
}

func newHouse(l *lane, d *dice) *house {
	h := &house{
		lane: l, dice: d, base: l.clock.Unix() - 600, changed: make(chan struct{}), active: map[chat.TurnID]int{}, dead: map[chat.TurnID]bool{},
		actors: map[chat.TurnID]int{}, latest: map[chat.TurnID]int{}, accounts: map[chat.Actor]bool{},
	}
	h.loop = agent.NewLoop(agent.Options{Model: h, Tools: l.gate(d.consent), StopGrace: time.Second})
	h.in = chat.Conversation{Team: "T1", Channel: "C1", Root: h.ts(1)}
	if d.dm {
		h.in.Channel = "D1"
	}
	if err := l.box.Redis().FlushAll(context.Background()).Err(); err != nil {
		h.wrong("empty the store: %v", err)
	}
	l.pass(0)
	l.now.Store(h)
	h.open(true)
	h.open(false)
	return h
}

func (h *house) ts(n int) chat.TS { return chat.TS(fmt.Sprintf("%d.%06d", h.base, n)) }

// open starts a replica. One that does not watch takes over nothing by itself.
func (h *house) open(watches bool) {
	rt, err := runtime.New(runtime.Options{
		Box: h.box, Slack: slack{h}, Bot: "UBOT", Policy: h.dice.policy, Agent: h, Router: h, Links: h,
		ConsentTimeout: time.Hour, MaxAttempts: 2, RenewEvery: time.Hour, SweepEvery: time.Hour, ShutdownGrace: time.Second,
		Count: func(string, string, int) { h.note(func() {}) },
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &replica{rt, cancel, make(chan struct{})}
	h.note(func() { h.replicas = append(h.replicas, r) })
	if !watches {
		close(r.done)
		return
	}
	go func() {
		defer close(r.done)
		_ = rt.Run(ctx)
	}()
}

func (h *house) close() {
	for _, r := range h.replicas {
		r.stop()
	}
	for _, r := range h.replicas {
		<-r.done
	}
}

// note changes the world.
func (h *house) note(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// wrong keeps the first problem.
func (h *house) wrong(form string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.problem == "" {
		h.problem = fmt.Sprintf(form, args...)
	}
}

func (h *house) standing(who chat.Actor) gate.Standing {
	h.mu.Lock()
	defer h.mu.Unlock()
	return gate.Standing{Connected: h.accounts[who], Name: string(who.User)}
}

// Link implements runtime.Links.
func (h *house) Link(_ context.Context, of runtime.LinkFor) (chat.Card, error) {
	return chat.Card{URL: "https://connect.example/" + string(of.Turn)}, nil
}

// Route implements runtime.Router.
func (h *house) Route(_ context.Context, q runtime.RouteQuestion) (runtime.Verdict, error) {
	if len(q.Message)%2 == 0 {
		return runtime.VerdictSteer, nil
	}
	return runtime.VerdictFollowUp, nil
}

// handBack is the tool as the replica has it that runs the turn.
func (h *house) handBack(ctx context.Context, call plugins.Call, message string) (plugins.Result, error) {
	h.mu.Lock()
	replicas := slices.Clone(h.replicas)
	h.mu.Unlock()
	for _, r := range replicas {
		result, err := r.HandBackTool().Call(ctx, call, fmt.Appendf(nil, `{"message":%q}`, message))
		if err != nil || !strings.Contains(result.Text, "this run is over") {
			return result, err
		}
	}
	return plugins.Result{Error: true, Text: "this run is over"}, nil
}

// settle waits until nothing more happens by itself.
func (h *house) settle() {
	late := time.After(patience)
	for {
		h.mu.Lock()
		changed, quiet := h.changed, h.quiet()
		h.mu.Unlock()
		if quiet && h.resting() {
			h.mu.Lock()
			still := changed == h.changed
			h.mu.Unlock()
			if still {
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-time.After(3 * time.Millisecond): // what nobody tells of
		case <-late:
			due, _ := h.box.Due(context.Background())
			h.wrong("stuck: due %+v, active %v, dead %v", due, h.active, h.dead)
			return
		}
	}
}

const patience = 20 * time.Second

// quiet reports whether each run waits for the model. The world is locked.
func (h *house) quiet() bool {
	for turn, n := range h.active {
		for _, a := range h.asks {
			if a.turn == turn && a.waits() {
				n--
			}
		}
		if n > 0 {
			return false
		}
	}
	return true
}

// resting reports whether nobody is about to take up what is due in the store.
func (h *house) resting() bool {
	due, err := h.box.Due(context.Background())
	if err != nil {
		h.wrong("read what is due: %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range due {
		switch d.Kind {
		case mailbox.DueTurn:
			if !h.dead[d.Turn] && (!h.thinks(d.Turn) || d.In <= 0) {
				return false
			}
		case mailbox.DueWait:
			if d.In <= 0 {
				return false
			}
		case mailbox.DueQueue:
			return false
		case mailbox.DueSend:
			if h.senders == 0 {
				return false
			}
		}
	}
	for _, d := range due {
		if d.Kind == mailbox.DueWait && h.senders == 0 && !h.asksFor(d.Turn) && h.problem == "" {
			h.problem = fmt.Sprintf("turn %s waits, and nobody is asked", d.Turn)
		}
	}
	return true
}

// asksFor reports whether a card of a turn's can be answered, or could not be
// posted. The world is locked.
func (h *house) asksFor(turn chat.TurnID) bool {
	return slices.ContainsFunc(h.posts, func(p post) bool {
		return p.Turn == turn && p.Card != nil && p.Card.Wait != "" && p.Edits == "" && (p.unsent || len(h.endings(p)) == 0)
	})
}

// thinks reports whether a turn waits for the model. The world is locked.
func (h *house) thinks(turn chat.TurnID) bool {
	for _, a := range h.asks {
		if a.turn == turn && a.waits() && !a.stale {
			return true
		}
	}
	return false
}
