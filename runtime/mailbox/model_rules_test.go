package mailbox_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func isStale(err error) bool { return errors.Is(err, mailbox.ErrStale) }

// rules wants of every state what the mailbox promises.
func (x *explorer) rules(n *node, v *view) error {
	for _, rule := range []func(*node, *view) error{x.oneRuns, x.onePlace, x.authority, x.lists, x.cards} {
		if err := rule(n, v); err != nil {
			return err
		}
	}
	return nil
}

// oneRuns: one turn runs, that of the last claim; an actor has one open turn.
func (x *explorer) oneRuns(n *node, v *view) error {
	run, of := v.conv["run"], map[string]bool{}
	for _, t := range v.turns {
		actor := t.fields["actor"]
		if (t.fields["state"] == "running") != (t.id == run) {
			return fmt.Errorf("turn %s is %s, and turn %q runs", t.id, t.fields["state"], run)
		}
		if t.open() && of[actor] {
			return fmt.Errorf("%s has two open turns", actor)
		}
		of[actor] = of[actor] || t.open()
		aside := t.fields["state"] == "parked" || t.fields["state"] == "queued"
		if aside != (v.conv["p:"+actor] == t.id) {
			return fmt.Errorf("turn %s is %s, and %s's parked one is %q", t.id, t.fields["state"], actor, v.conv["p:"+actor])
		}
		if (t.fields["state"] == "queued") != slices.Contains(v.ready, t.id) {
			return fmt.Errorf("turn %s is %s, and %v are ready", t.id, t.fields["state"], v.ready)
		}
		if !t.open() && len(t.steers) > 0 {
			return fmt.Errorf("turn %s has ended and has steers", t.id)
		}
		token := t.fields["token"]
		if held := n.holder.turn == chat.TurnID(t.id) && n.holder.token != ""; held != (token != "") || held && token != string(n.holder.token) {
			return fmt.Errorf("turn %s has token %q, and turn %s was given out", t.id, token, n.holder.turn)
		}
	}
	return nil
}

// onePlace: an accepted message waits, is a steer, stands in a log, or was taken
// back because of a stop; one of them.
func (x *explorer) onePlace(n *node, v *view) error {
	places := make([][]string, len(v.said))
	put := func(ts, where string) {
		for i := range v.said {
			if ts == string(at(i+2)) {
				places[i] = append(places[i], where)
			}
		}
	}
	for _, member := range v.wait {
		put(member[:17], "waiting")
	}
	for _, t := range v.turns {
		for _, member := range t.steers {
			put(member[:17], "steer "+t.id)
		}
		for _, item := range t.messages() {
			if item[0] != "struck" && !v.handedBack(item[1], t.id) {
				put(item[1], "taken "+t.id)
			}
		}
	}
	for i, h := range v.said {
		if !n.put[i] {
			continue
		}
		want := h["state"]
		switch want {
		case "steer", "taken":
			want += " " + h["turn"]
		case "withdrawn":
			want = ""
			if !x.scene.said[i].Stop && !x.stoppable(n, i) {
				return fmt.Errorf("message %d was taken back, and no stop came after it", i)
			}
		}
		if got := strings.Join(places[i], " and "); got != want {
			return fmt.Errorf("message %d is %q and stands in: %q", i, want, got)
		}
	}
	return nil
}

// handedBack: the message stands in the turn's log as what it has read, and is
// its author's follow-up besides.
func (v *view) handedBack(ts, turn string) bool {
	for i, h := range v.said {
		if ts == string(at(i+2)) {
			return h["handed_turn"] == turn
		}
	}
	return false
}

// stoppable: a newer stop may have taken the message back.
func (x *explorer) stoppable(n *node, i int) bool {
	for j := i + 1; j < len(x.scene.said); j++ {
		if x.scene.said[j].Stop && n.put[j] {
			return true
		}
	}
	return false
}

// authority: a turn's requests and steers are its actor's own words.
func (x *explorer) authority(_ *node, v *view) error {
	for _, t := range v.turns {
		for _, item := range t.messages() {
			own := item[2] == t.fields["actor"]
			if item[0] == "steer_context" == own && item[0] != "struck" {
				return fmt.Errorf("%s of %s stands in a turn of %s", item[0], item[2], t.fields["actor"])
			}
		}
	}
	return nil
}

// lists: what is derived agrees, and whoever looks at the index finds all work.
func (x *explorer) lists(_ *node, v *view) error {
	c := modelPlace.Key()
	var want [3][]string
	for _, member := range v.wait {
		want[0] = append(want[0], c+"|"+member)
	}
	for _, t := range v.turns {
		for i, state := range []string{"queued", "running", "parked"} {
			if t.fields["state"] == state {
				want[i] = append(want[i], c+"|"+t.id)
			}
		}
	}
	for i := range want {
		slices.Sort(want[i])
		if !slices.Equal(want[i], v.lists[i]) {
			return fmt.Errorf("a list says %v of %v", v.lists[i], want[i])
		}
	}
	run := v.conv["run"]
	_, offered := v.index["q|"+c]
	_, leased := v.index["t|"+c+"|"+run]
	switch {
	case run != "" && !leased && !offered:
		return fmt.Errorf("turn %s runs and is not in the index", run)
	case run == "" && !offered && len(v.wait)+len(v.ready) > 0:
		return errors.New("work waits and is not in the index")
	}
	return nil
}

// cards: of a wait that is over one thing is said, and of one that is not,
// nothing. What was answered is said to be void besides when its turn ended before
// a worker had taken that up; see ends.
func (x *explorer) cards(_ *node, v *view) error {
	for _, t := range v.turns {
		for _, card := range t.said(v, "card") {
			answered, void := t.said(v, "a", card), t.said(v, "v", card)
			ended := t.fields["state"] == "stopped" || t.fields["state"] == "abandoned"
			switch n := len(answered) + len(void); {
			case t.fields["state"] == "parked" && t.fields["wait_id"] == card:
				if n > 0 {
					return fmt.Errorf("turn %s waits in %s, and its end is said", t.id, card)
				}
			case n == 0:
				return fmt.Errorf("the wait %s of turn %s is over, and nothing says so", card, t.id)
			case len(answered) > 1 || len(void) > 1 || n > 1 && !ended:
				return fmt.Errorf("the end of wait %s of turn %s is said %d times", card, t.id, n)
			}
		}
	}
	return nil
}

// ends: a step that ends a wait says how, and so does one that ends a turn whose
// answer no worker has taken up; no other step says anything.
func (x *explorer) ends(e event, old turnView, v, next *view) error {
	now := next.turn(old.id)
	wait, want := old.fields["wait_id"], 0
	over := now.fields["state"] != "parked" || now.fields["wait_id"] != wait
	switch {
	case old.fields["state"] == "parked" && over && e.kind == evClick:
		want = len(next.turn(old.id).said(next, "a", wait)) - len(old.said(v, "a", wait))
		if want != 1 {
			return fmt.Errorf("the click on %s of turn %s is not said", wait, old.id)
		}
	case old.fields["state"] == "parked" && over,
		old.fields["state"] == "queued" && !now.open() && len(old.said(v, "a", wait)) == 1:
		if want = 1; len(now.said(next, "v", wait)) != 1 {
			return fmt.Errorf("the wait %s of turn %s ends, and its card is not void", wait, old.id)
		}
	}
	count := func(t turnView, v *view) int { return len(t.said(v, "a")) + len(t.said(v, "v")) }
	if got := count(now, next) - count(old, v); got != want {
		return fmt.Errorf("turn %s: %d ends are said, want %d", old.id, got, want)
	}
	return nil
}

// moves wants of every step what the mailbox promises.
func (x *explorer) moves(e event, n *node, v, next *view) error {
	for _, old := range v.turns {
		t := next.turn(old.id)
		if t.fields == nil || t.fields["actor"] != old.fields["actor"] || t.fields["first"] != old.fields["first"] {
			return fmt.Errorf("turn %s has another actor", old.id)
		}
		if !old.open() && (!maps.Equal(old.fields, t.fields) || !slices.Equal(old.log, t.log)) {
			return fmt.Errorf("turn %s had ended and has changed", old.id)
		}
		if err := x.ends(e, old, v, next); err != nil {
			return err
		}
		if t.fields["state"] == "done" && old.open() && len(old.steers) > 0 {
			return fmt.Errorf("turn %s is done, and a steer waited", old.id)
		}
		if len(t.log) < len(old.log) {
			return fmt.Errorf("the log of turn %s is shorter", old.id)
		}
		for i, item := range old.log {
			if t.log[i] != item && (t.open() || !strings.HasPrefix(t.log[i], "struck ")) {
				return fmt.Errorf("the log of turn %s has changed: %q", old.id, t.log[i])
			}
		}
	}
	for i, old := range v.said {
		if old != nil && next.said[i]["first"] != old["first"] {
			return fmt.Errorf("message %d was answered %s and is now %s", i, old["first"], next.said[i]["first"])
		}
	}
	return x.order(n, v, next)
}

// order: a plain message is not read before an older plain one of its author,
// unless that came when it was a steer already, in the mode in which nothing
// joins one's own running turn; see docs/limits.md. One that was handed back was
// read before.
func (x *explorer) order(n *node, v, next *view) error {
	unread := func(h map[string]string) bool { return h["state"] == "waiting" || h["state"] == "steer" }
	for i := range x.scene.said {
		m := x.scene.said[i]
		if m.Forced || m.Stop || next.said[i]["state"] != "taken" || v.said[i]["state"] == "taken" {
			continue
		}
		for j := range i {
			o := x.scene.said[j]
			bound := x.scene.policy.SameActor == runtime.ModeFollowUp && v.said[i]["state"] == "steer" &&
				n.past.cameBefore(int16(i), int16(j))
			again := next.said[j]["handed"] != "" // it was read before, and waits to be done
			if o.Author == m.Author && !o.Forced && !o.Stop && unread(next.said[j]) && !bound && !again {
				return fmt.Errorf("message %d is read before %d", i, j)
			}
		}
	}
	return nil
}

// comesToRest wants that everything ends when the worker dies and a new one does
// what the index says.
func (x *explorer) comesToRest(n *node) error {
	rest := *n
	rest.worker = worker{}
	way := map[[16]byte]bool{}
	for {
		v := x.view(&rest.store)
		hash := x.hash(&rest, v)
		if x.resting[hash] {
			break
		}
		if way[hash] {
			return errors.New("it goes round and never comes to rest")
		}
		way[hash] = true
		e := event{kind: evDone, room: true}
		w := rest.worker
		switch {
		case w.exhausted:
			e.kind = evAbandon
		case w.stopping:
			e.kind = evStopped
		case w.turn != "":
		case v.due(rest.store.Now):
			e.kind = evClaim
		case v.leased(rest.store.Now):
			e.kind = evExpire
		default:
			parked := slices.IndexFunc(v.turns, func(t turnView) bool { return t.fields["state"] == "parked" })
			if parked < 0 {
				maps.Copy(x.resting, way)
				return x.atRest(&rest, v)
			}
			e = event{kind: evEndWait, of: v.turns[parked].number(), wait: v.turns[parked].wait()}
		}
		next, err := x.step(&rest, e)
		if err != nil {
			return fmt.Errorf("on the way to rest: %s: %w", e, err)
		}
		rest = *next
	}
	maps.Copy(x.resting, way)
	return nil
}

// atRest: nothing is open, and every message stands in an ended turn.
func (x *explorer) atRest(n *node, v *view) error {
	for _, t := range v.turns {
		if t.open() {
			return fmt.Errorf("it is stuck: turn %s is %s", t.id, t.fields["state"])
		}
	}
	for i, h := range v.said {
		if n.put[i] && h["state"] != "taken" && h["state"] != "withdrawn" {
			return fmt.Errorf("it is stuck: message %d is %s", i, h["state"])
		}
	}
	return nil
}
