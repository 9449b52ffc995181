package mailbox_test

import (
	"fmt"
	"slices"
	"strings"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// The model: two or three messages in one conversation, any number of workers, and
// everything that may go wrong between them and the store. The store runs the
// scripts as they are, and mailbox.Box calls them.
//
// A worker that has lost its turn can do nothing but find out, and a call that
// is sent again for want of an answer must change nothing. So neither is part of
// a state: each token that was ever given out, and each call, is tried again in
// later states. What is left to a state is the store, the worker that holds the
// running turn, if it lives, and which messages have come.

const (
	modelBegin = 1_700_000_100_000 // ms
	modelTTL   = 10_000            // ms
)

// node is a state of the world: the store, and what each process knows.
type node struct {
	store mailbox.Memory
	// worker holds the running turn; none when it has died.
	worker worker
	// put says which messages have reached the store.
	put [3]bool
	// holder is to whom a turn was given last. The model knows it from the
	// answers alone, and the store has to agree.
	holder lease
	// past are the calls on the way here; not part of the state.
	past  *pastCall
	trace *traced
	depth int
}

// traced is how a state was reached first.
type traced struct {
	event
	before *traced
}

// worker is what a process knows of the turn that it runs.
type worker struct {
	turn  chat.TurnID
	token mailbox.Token
	n     int64
	// stopping: it was told of a stop. exhausted: it holds the turn to abandon it.
	stopping, exhausted bool
}

type lease struct {
	turn  chat.TurnID
	token mailbox.Token
	ends  int64
}

// pastCall is a call and what it was answered.
type pastCall struct {
	event
	call   *mailbox.Call
	worker worker // who called, as it was then
	told   told
	wrote  bool
	made   chat.TurnID
	before *pastCall
	number int
}

// kind is what may happen.
type kind byte

const (
	evPut     kind = iota // a message is delivered
	evEndWait             // as an account does that is there
	evClick               // its actor answers the card
	evClaim
	evBoundary // a commit that takes steers
	evAnswer   // a commit of a model's answer that calls tools
	evDone
	evFail
	evStopped
	evAbandon
	evPark
	evHandOver
	evRenew
	evHandBack // of a message that the running turn has read as context
	evCrash
	evExpire
)

// event is one thing that happens. of is the message or the turn.
type event struct {
	kind kind
	of   int16
	room bool // the caller has room for a turn
	wait mailbox.WaitID
	bob  bool // he clicks, else it is Alice; a turn parks without his steers
}

func (e event) String() string {
	names := [...]string{"put", "end the wait", "click", "claim", "boundary", "answer", "close done", "close failed",
		"close stopped", "close abandoned", "park", "hand over", "renew", "hand back", "crash", "lease ends"}
	text := names[e.kind]
	if e.kind <= evClick || e.kind == evHandBack {
		text += fmt.Sprintf(" %d", e.of)
	}
	if e.bob && e.kind == evPark {
		text += " without Bob's steers"
	}
	if !e.room && e.kind != evClaim {
		return text
	}
	return text + ", with room"
}

// events are what may happen in a state.
func (x *explorer) events(n *node, v *view) []event {
	var all []event
	// Without room the next turn is offered: that differs if there is one.
	rooms := func(e event, may bool) {
		e.room = true
		all = append(all, e)
		if e.room = false; may {
			all = append(all, e)
		}
	}
	run := v.conv["run"]
	for i := range x.scene.said {
		if !n.put[i] {
			rooms(event{kind: evPut, of: int16(i)}, run == "")
		}
	}
	waits := len(v.wait)+len(v.ready) > 0
	for _, t := range v.turns {
		waits = waits || t.id == run && len(t.steers)+len(t.carried()) > 0
		if t.fields["state"] == "parked" {
			rooms(event{kind: evEndWait, of: t.number(), wait: t.wait()}, run == "")
			rooms(event{kind: evClick, of: t.number(), wait: t.wait(), bob: t.fields["actor"] == bob.Key()}, run == "")
		}
	}
	if v.due(n.store.Now) {
		all = append(all, event{kind: evClaim})
	}
	if v.leased(n.store.Now) {
		all = append(all, event{kind: evExpire})
	}
	w := n.worker
	if w.turn == "" {
		return all
	}
	all = append(all, event{kind: evCrash})
	switch {
	case w.exhausted:
		rooms(event{kind: evAbandon}, waits)
		return all
	case w.stopping:
		rooms(event{kind: evStopped}, waits)
	default:
		rooms(event{kind: evDone}, waits)
		rooms(event{kind: evFail}, waits)
		rooms(event{kind: evPark}, waits)
		if slices.ContainsFunc(v.turn(run).steers, byBob) {
			rooms(event{kind: evPark, bob: true}, waits)
		}
	}
	all = append(all, event{kind: evHandOver})
	for i, h := range v.said {
		if h["state"] == "taken" && h["turn"] == run && h["as"] == "steer_context" {
			all = append(all, event{kind: evHandBack, of: int16(i)})
		}
	}
	t := v.turn(run)
	fresh := t.fields["progress"] != "1" || t.fields["fresh"] == "1"
	if fresh || len(t.steers) > 0 {
		all = append(all, event{kind: evBoundary})
	}
	if fresh || len(t.carried()) > 0 {
		all = append(all, event{kind: evAnswer})
	}
	if n.holder.ends <= n.store.Now {
		all = append(all, event{kind: evRenew})
	}
	return all
}

// byBob reports whether a lane's member is a message of Bob's.
func byBob(member string) bool { return strings.HasSuffix(member, " "+bob.Key()) }

// step is the state after an event, or what is wrong with the store.
func (x *explorer) step(n *node, e event) (*node, error) {
	next := *n
	next.depth++
	next.trace = &traced{e, n.trace}
	switch e.kind {
	case evCrash:
		next.worker = worker{}
		return &next, nil
	case evExpire:
		next.store.Now += modelTTL + 1
		return &next, nil
	}
	x.bench.Memory = n.store.Copy()
	p := &pastCall{event: e, made: n.freeTurn(), before: n.past}
	if e.kind > evClaim {
		p.worker = n.worker
	}
	if n.past != nil {
		p.number = n.past.number + 1
	}
	var err error
	if p.told, err = x.call(e, p.worker, p.made); err != nil {
		return nil, err
	}
	next.store = x.bench.Memory.Copy()
	p.call, p.wrote = x.bench.Call, !next.store.Same(&n.store)
	next.past = p
	if e.kind == evHandBack && p.told.Handed != mailbox.HandedBack {
		return nil, fmt.Errorf("a message that was read as context is not handed back: %s", p.told.Handed)
	}
	if p.told.Stale {
		return nil, fmt.Errorf("the holder of turn %s is refused", n.worker.turn)
	}
	if e.kind == evPut {
		next.put[e.of] = true
		if d := p.told.Put.Disposition; d == chat.Duplicate || d == chat.Refused || d == chat.Ignored {
			return nil, fmt.Errorf("a new message is answered %s", d)
		}
	}
	if err := next.hear(p.told); err != nil {
		return nil, err
	}
	next.learn(e, p.told)
	return &next, nil
}

// hear keeps what the answers say of who holds the turn.
func (n *node) hear(t told) error {
	now := n.store.Now
	if t.Ended {
		n.holder = lease{}
	}
	if t.Renewed {
		n.holder.ends = now + modelTTL
	}
	turn, token := chat.TurnID(""), t.token()
	switch {
	case t.Claimed != nil:
		turn = t.Claimed.Turn
	case t.Exhausted != nil:
		turn = t.Exhausted.Turn
	default:
		return nil
	}
	if h := n.holder; h.token != "" && h.token != token && (h.turn != turn || h.ends > now) {
		return fmt.Errorf("turn %s was given out while turn %s was held", turn, h.turn)
	}
	n.holder = lease{turn, token, now + modelTTL}
	return nil
}

// learn tells the caller what its step answered.
func (n *node) learn(e event, t told) {
	w := &n.worker
	if e.kind > evClaim {
		switch {
		case t.Ended:
			*w = worker{}
		case t.Stopping && e.kind != evBoundary && e.kind != evAnswer:
			w.stopping = true // and nothing was written
		case e.kind != evPark && e.kind != evRenew && e.kind != evHandBack:
			w.n++
			w.stopping = w.stopping || t.Stopping
		}
	}
	if c := t.Claimed; c != nil {
		*w = worker{turn: c.Turn, token: c.Token, n: c.Commits, stopping: c.Stop != nil}
	}
	if x := t.Exhausted; x != nil {
		*w = worker{turn: x.Turn, token: x.Token, n: x.Commits, exhausted: true}
	}
	if w.token != n.holder.token {
		*w = worker{} // another has the turn now; see explorer.refused
	}
}

// freeTurn is an id that no call on the way here was made with.
func (n *node) freeTurn() chat.TurnID {
	if n.past == nil {
		return turnName(1)
	}
	return turnName(int16(n.past.number + 2))
}

func turnName(i int16) chat.TurnID { return chat.TurnID(fmt.Sprintf("<%d>", i)) }
