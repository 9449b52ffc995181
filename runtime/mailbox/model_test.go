package mailbox_test

import (
	"fmt"
	"slices"
	"strings"

	"reeve/runtime"
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

// scene is one case of the model: who writes what, under which policy.
type scene struct {
	name   string
	said   []chat.Message
	policy runtime.Policy
	// attempts are how many workers a turn may lose before it is abandoned.
	attempts int
	// waits: a turn that has waited differs from one that has not. No step decides
	// by that, so that it matters to the checks of a second wait's end alone.
	waits bool
}

// scenes are all cases: messages of Alice, who writes the oldest, and Bob; plain,
// forced ("!") or a stop; under each policy that makes a difference there. Three
// of them, and two with more workers lost and waits that follow waits: three with
// those, too, have four times as many states, which are more than one has the
// patience to see.
func scenes() []scene {
	var all []scene
	known := map[string]bool{}
	add := func(words ...string) {
		modes := []runtime.MidRunMode{runtime.ModeSteer, runtime.ModeFollowUp}
		for _, same := range modes {
			for _, cross := range modes {
				if s := newScene(words, same, cross); !known[s.decided()] {
					known[s.decided()] = true
					all = append(all, s)
				}
			}
		}
	}
	words := []string{"A", "A!", "Astop", "B", "B!", "Bstop"}
	for _, one := range words[:3] {
		for _, two := range words {
			add(one, two)
			for _, three := range words {
				add(one, two, three)
			}
		}
	}
	return all
}

func newScene(words []string, same, cross runtime.MidRunMode) scene {
	s := scene{
		name:     fmt.Sprintf("%s, same %s, cross %s", strings.Join(words, " "), same, cross),
		policy:   runtime.Policy{SameActor: same, CrossActor: cross, Stop: runtime.StopByAnyone},
		attempts: 1,
	}
	if len(words) < 3 {
		s.attempts, s.waits = 2, true
	}
	for i, word := range words {
		m := chat.Message{
			ID: chat.MessageID{Team: "T1", Channel: "C1", TS: at(i + 2)}, Conversation: modelPlace,
			Author: alice, Text: word, Standing: chat.MayInstruct, Addressed: true,
		}
		if word[0] == 'B' {
			m.Author = bob
		}
		m.Forced, m.Stop = word[1:] == "!", word[1:] == "stop"
		s.said = append(s.said, m)
	}
	return s
}

// decided is what the scene's messages may be told: scenes that agree in it are
// the same. Nobody's turn is open of whom the scene has no other message.
func (s scene) decided() string {
	var id strings.Builder
	for _, m := range s.said {
		own := slices.ContainsFunc(s.said, func(o chat.Message) bool { return o.ID != m.ID && !o.Stop && o.Author == m.Author })
		other := slices.ContainsFunc(s.said, func(o chat.Message) bool { return !o.Stop && o.Author != m.Author })
		fmt.Fprintf(&id, "%s %t %t ", m.Author, m.Forced, m.Stop)
		for at, letter := range []byte(runtime.DecideRow(m, s.policy)) {
			switch column := chat.StateAt(at).Column; {
			case column == chat.OtherRuns && !other:
			case column < chat.OtherRuns && !own:
			default:
				id.WriteByte(letter)
			}
		}
	}
	return id.String()
}

var modelPlace = chat.Conversation{Team: "T1", Channel: "C1", Root: at(1)}

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

// told is what a step answered, of what the model has to know.
type told struct {
	Put       mailbox.PutResult
	Claimed   *mailbox.Claimed
	Exhausted *mailbox.Exhausted
	Stale     bool
	NotYours  bool
	Stopping  bool
	Open      bool // close or park: not yet
	Ended     bool // the turn is no longer the caller's
	Renewed   bool
	Taken     []mailbox.Item
	Handed    mailbox.HandBackOutcome
}

// result is all that must be told again in the same words, when a call is sent
// again.
func (t told) result() string {
	return fmt.Sprint(t.Put.Disposition, t.Put.Withdrawn, t.Stopping, t.Open, t.Ended, len(t.Taken), t.Handed, t.NotYours)
}

// token is that of the turn that was given out.
func (t told) token() mailbox.Token {
	switch {
	case t.Claimed != nil:
		return t.Claimed.Token
	case t.Exhausted != nil:
		return t.Exhausted.Token
	}
	return ""
}

// call makes the event's step on the store of x.bench.
func (x *explorer) call(e event, w worker, next chat.TurnID) (told, error) {
	box, ctx := x.bench.Box, x.ctx
	ref := mailbox.Ref{Conversation: modelPlace, Turn: w.turn, Token: w.token}
	offer := mailbox.Next{Claim: e.room, Turn: next}
	switch e.kind {
	case evPut:
		m := x.scene.said[e.of]
		got, errs := box.PutAll(ctx, []mailbox.Put{{Message: m, Row: x.rows[e.of], Turn: next, Claim: e.room}})
		return told{Put: got[0], Claimed: got[0].Claimed}, errs[0]
	case evEndWait:
		_, got, err := endWait(box, modelPlace, turnName(e.of), e.wait, offer)
		return told{Claimed: got}, err
	case evClick:
		turn := turnName(e.of)
		click := mailbox.EndingWait{Conversation: modelPlace, Turn: turn, Wait: e.wait, By: alice, Next: offer,
			Ending: chat.Ending{How: chat.ByAnswer, Time: clicked}, Parts: []chat.Part{modelPart(turn, string(e.wait), "a")}}
		if e.bob {
			click.By = bob
		}
		end, err := box.EndWait(ctx, click)
		return told{Claimed: end.Claimed, NotYours: end.NotYours}, err
	case evClaim:
		offer.Claim = true
		got, err := box.Claim(ctx, modelPlace, offer, x.scene.attempts)
		return told{Claimed: got.Claimed, Exhausted: got.Exhausted}, err
	case evBoundary, evAnswer:
		got, err := box.Commit(ctx, mailbox.Commit{Ref: ref, Number: w.n + 1, Entries: modelEntry,
			Take: e.kind == evBoundary, Answer: e.kind == evAnswer})
		return told{Stopping: got.Stop != nil, Taken: got.Taken}.or(err)
	case evPark:
		park := mailbox.Park{Ref: ref, Number: w.n + 1, Next: offer, Entries: modelEntry}
		card, void := modelPart(w.turn, string(park.ID()), "card"), modelPart(w.turn, string(park.ID()), "v")
		park.Card, park.Parts, park.Void = card.ID, []chat.Part{card}, &void
		if e.bob {
			park.Leave = []chat.Actor{bob}
		}
		got, err := box.Park(ctx, park)
		return told{Claimed: got.Next, Stopping: got.Stop != nil, Ended: got.Parked, Open: !got.Parked}.or(err)
	case evHandOver:
		return told{Ended: true}.or(box.HandOver(ctx, ref))
	case evRenew:
		pulses, errs := box.Renew(ctx, []mailbox.Ref{ref})
		return told{Renewed: true, Stopping: pulses[0].Stop != nil}.or(errs[0])
	case evHandBack:
		m := x.scene.said[e.of]
		got, err := box.HandBack(ctx, mailbox.HandBack{Ref: ref, TS: m.ID.TS, Key: "call"})
		return told{Handed: got.Outcome}.or(err)
	default:
		got, err := box.Close(ctx, mailbox.Close{Ref: ref, Number: w.n + 1, Outcome: modelOutcomes[e.kind],
			Entries: modelEntry, Next: offer})
		return told{Claimed: got.Next, Stopping: got.Stop != nil, Ended: got.Closed, Open: !got.Closed, Taken: got.Taken}.or(err)
	}
}

// modelPart is a part about one wait of a turn: its card, or what is said of it.
func modelPart(turn chat.TurnID, wait, what string) chat.Part {
	return chat.Part{ID: fmt.Sprintf("%s/%s.%s", turn, wait, what), Turn: turn, Card: &chat.Card{Kind: chat.ConsentCard},
		To: chat.Destination{DM: alice.User}, Written: "1.1"}
}

var (
	modelEntry    = [][]byte{[]byte("x")}
	modelOutcomes = map[kind]mailbox.Outcome{evDone: mailbox.Done, evFail: mailbox.Failed,
		evStopped: mailbox.Stopped, evAbandon: mailbox.Abandoned}
)

// or is t, unless the caller was told that it lost the turn.
func (t told) or(err error) (told, error) {
	if isStale(err) {
		return told{Stale: true}, nil
	}
	return t, err
}

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
