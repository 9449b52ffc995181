package mailbox_test

import (
	"fmt"

	"reeve/runtime/chat"
)

// repeats wants that a call that is sent again changes nothing and is answered
// as it was, that whoever lost his turn writes nothing, and that a message that is
// delivered again changes nothing. The last call is tried in each state, and of
// those before it another one each time.
func (x *explorer) repeats(n *node, turn int) error {
	old := n.past
	if old == nil {
		return nil
	}
	if err := x.again(n, old); err != nil {
		return err
	}
	for range turn % (old.number + 1) {
		old = old.before
	}
	if err := x.again(n, old); err != nil {
		return err
	}
	if err := x.zombie(n, old, turn); err != nil {
		return err
	}
	if err := x.lateEnd(n); err != nil {
		return err
	}
	if err := x.stranger(n); err != nil {
		return err
	}
	i := turn % len(n.put)
	if !n.put[i] {
		return nil
	}
	t, err := x.try(n, event{kind: evPut, of: int16(i), room: true}, worker{})
	if err == nil && t.Put.Disposition != chat.Duplicate {
		err = fmt.Errorf("message %d, delivered again, is answered %s", i, t.Put.Disposition)
	}
	return err
}

// zombie lets a worker that lost the turn of an old call try to write.
func (x *explorer) zombie(n *node, old *pastCall, turn int) error {
	w := worker{turn: old.worker.turn, token: old.worker.token, n: 99}
	if c := old.told.Claimed; c != nil {
		w.turn, w.token = c.Turn, c.Token
	}
	if w.turn == "" || w.token == n.holder.token {
		return nil
	}
	writes := []kind{evBoundary, evAnswer, evDone, evFail, evStopped, evAbandon, evPark, evHandOver, evRenew}
	e := event{kind: writes[turn/8%len(writes)], room: true}
	t, err := x.try(n, e, w)
	if err != nil {
		return err
	}
	// Its very last call may be answered as it was.
	last := e.kind == evHandOver || e.kind == evPark || e.kind >= evDone && e.kind <= evAbandon
	if !t.Stale && !(last && t.Ended) {
		return fmt.Errorf("%s by a worker that lost turn %s is taken", e, w.turn)
	}
	return nil
}

// lateEnd lets whoever could end the first wait that was ended try again, as if
// he had not done so: what it ended has ended, whatever the turn waits for now.
func (x *explorer) lateEnd(n *node) error {
	var first *pastCall
	for p := n.past; p != nil; p = p.before {
		if p.kind == evEndWait || p.kind == evClick {
			first = p
		}
	}
	if first == nil {
		return nil
	}
	late := first.event
	late.room = true
	for _, late.kind = range []kind{evEndWait, evClick} {
		late.bob = x.view(&n.store).turn(string(turnName(late.of))).fields["actor"] == bob.Key()
		if t, err := x.try(n, late, worker{}); err != nil || t.NotYours || t.Claimed != nil {
			return fmt.Errorf("%s, late: %+v %w", late, t, err)
		}
	}
	return nil
}

// stranger lets somebody click who is not asked.
func (x *explorer) stranger(n *node) error {
	for _, t := range x.view(&n.store).turns {
		if t.fields["state"] != "parked" {
			continue
		}
		e := event{kind: evClick, of: t.number(), wait: t.wait(), room: true, bob: t.fields["actor"] != bob.Key()}
		if got, err := x.try(n, e, worker{}); err != nil || !got.NotYours || got.Claimed != nil {
			return fmt.Errorf("%s by another: %+v %w", e, got, err)
		}
	}
	return nil
}

// try makes a step that must not write.
func (x *explorer) try(n *node, e event, w worker) (told, error) {
	x.bench.Memory = n.store.Copy()
	t, err := x.call(e, w, n.freeTurn())
	if err == nil && !x.bench.Memory.Same(&n.store) {
		err = fmt.Errorf("%s has written", e)
	}
	return t, err
}

// again sends a call once more. A call that had written nothing, or that renewed
// or claimed what others have meanwhile, is a new one.
func (x *explorer) again(n *node, p *pastCall) error {
	x.bench.Memory, x.bench.Repeat = n.store.Copy(), p.call
	t, err := x.call(p.event, p.worker, p.made)
	if err != nil {
		return fmt.Errorf("%s, sent again: %w", p.event, err)
	}
	if p.kind == evBoundary || p.kind == evAnswer {
		t.Stopping = p.told.Stopping // a stop that came since is news
	}
	same := x.bench.Memory.Same(&n.store)
	held := p.worker.token == n.holder.token
	current := n.holder.token != "" && p.told.token() == n.holder.token
	switch {
	case t.Stale && (held || p.told.Ended && p.kind >= evDone && p.kind <= evAbandon):
		return fmt.Errorf("%s, sent again, is refused", p.event)
	case t.Stale && !same:
		return fmt.Errorf("%s is refused and has written", p.event)
	case t.Stale:
	case current && (!same || t.token() != n.holder.token):
		return fmt.Errorf("%s, sent again, keeps back its lease", p.event)
	case current:
	case !p.wrote || p.kind == evRenew || p.kind == evClaim:
		return x.fresh(p.event, n, t)
	case !same:
		return fmt.Errorf("%s, sent again, has written twice", p.event)
	case t.result() != p.told.result() && n.past.isLastOf(p):
		return fmt.Errorf("%s, sent again, is answered %s, first %s", p.event, t.result(), p.told.result())
	case t.token() != "":
		return fmt.Errorf("%s, sent again, gives out a lease that is not its own", p.event)
	}
	return nil
}

// cameBefore reports whether message i was put before message j.
func (p *pastCall) cameBefore(i, j int16) bool {
	for ; p != nil; p = p.before {
		if p.kind == evPut && (p.of == i || p.of == j) {
			return p.of == j
		}
	}
	return false
}

// isLastOf reports whether whoever made call p has made none since: he waits for
// its answer.
func (p *pastCall) isLastOf(old *pastCall) bool {
	for ; p != old; p = p.before {
		if p.worker.token == old.worker.token && old.kind > evClaim {
			return false
		}
	}
	return true
}

// fresh checks what a call has done that counts as a new one.
func (x *explorer) fresh(e event, n *node, t told) error {
	next := *n
	next.store = x.bench.Memory.Copy()
	if err := next.hear(t); err != nil {
		return err
	}
	v := x.view(&next.store)
	if err := x.moves(e, n, x.view(&n.store), v); err != nil {
		return err
	}
	return x.rules(&next, v)
}
