package mailbox_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"reeve/runtime/mailbox"
)

// view is a state's store, as far as the scripts decide by it.
type view struct {
	conv   map[string]string
	turns  []turnView
	wait   []string // "TS AUTHOR"
	ready  []string
	closed []string
	index  map[string]float64
	lists  [3][]string // waiting, running, parked: derived
	said   []map[string]string
	out    []string // ids of what stands in the outbox
}

type turnView struct {
	id     string
	fields map[string]string
	log    []string
	steers []string
}

func (t turnView) number() int16 {
	n, _ := strconv.Atoi(strings.Trim(t.id, "<>"))
	return int16(n)
}

// wait names what a parked turn waits for.
func (t turnView) wait() mailbox.WaitID { return mailbox.WaitID(t.fields["wait_id"]) }

// said are the waits of which there is such a part in the outbox (see modelPart);
// of those that are named alone, if any are.
func (t turnView) said(v *view, what string, of ...string) []string {
	var waits []string
	for _, id := range v.out {
		turn, part, _ := strings.Cut(id, "/")
		wait, is, _ := strings.Cut(part, ".")
		if turn == t.id && is == what && (len(of) == 0 || slices.Contains(of, wait)) {
			waits = append(waits, wait)
		}
	}
	return waits
}

func (t turnView) open() bool {
	s := t.fields["state"]
	return s == "running" || s == "parked" || s == "queued"
}

// carried are the steers that the turn has read and not answered.
func (t turnView) carried() []string {
	var all []string
	for field := range t.fields {
		if strings.HasPrefix(field, "u:") || strings.HasPrefix(field, "k:") {
			all = append(all, field[2:])
		}
	}
	return all
}

// messages are the log's items that are messages: [how, ts, author].
func (t turnView) messages() [][]string {
	var all [][]string
	for _, item := range t.log {
		head, _, _ := strings.Cut(item, "\n")
		if f := strings.Fields(head); len(f) == 3 {
			all = append(all, f)
		}
	}
	return all
}

func (x *explorer) view(m *mailbox.Memory) *view {
	p, c := x.prefix, modelPlace.Key()
	v := &view{
		conv: m.Hash(p + "conv:" + c), wait: m.Members(p + "wait:" + c), ready: m.List(p + "ready:" + c),
		closed: m.Members(p + "closed:" + c), index: m.Set(p + "leases"),
	}
	for i, name := range []string{"waiting", "running", "parked"} {
		v.lists[i] = m.Members(p + name)
		slices.Sort(v.lists[i])
	}
	for _, part := range m.List(p + "out:" + c) {
		id, _, _ := strings.Cut(part, "\n")
		v.out = append(v.out, id)
	}
	for i := range x.scene.said {
		v.said = append(v.said, m.Hash(p+"msg:T1:C1:"+string(at(i+2))))
	}
	for _, key := range m.Keys() {
		if id, ok := strings.CutPrefix(key, p+"turn:"); ok {
			v.turns = append(v.turns, turnView{id, m.Hash(key), m.List(p + "log:" + id), m.Members(p + "steer:" + id)})
		}
	}
	slices.SortFunc(v.turns, func(a, b turnView) int { return strings.Compare(a.fields["first"], b.fields["first"]) })
	return v
}

func (v *view) turn(id string) turnView {
	for _, t := range v.turns {
		if t.id == id {
			return t
		}
	}
	return turnView{}
}

// leased reports whether a lease holds that could end.
func (v *view) leased(now int64) bool {
	for member, score := range v.index {
		if member[0] == 't' && score > float64(now) {
			return true
		}
	}
	return false
}

// due reports whether a replica that looks at the index would claim.
func (v *view) due(now int64) bool {
	for member, score := range v.index {
		if member[0] == 'q' || member[0] == 't' && score <= float64(now) {
			return true
		}
	}
	return false
}

// decisive are the fields of an open turn by which a script may decide. What else
// stands there (times, counters, how a call was answered that may come again)
// tells no state from another.
var decisive = map[string]bool{"actor": true, "state": true, "handed": true, "stop_by": true, "stop_ts": true}

// ofRun are those that count while the turn runs; a new lease sets them.
var ofRun = map[string]bool{"until": true, "attempts": true, "progress": true, "fresh": true}

// hash names a state. States that differ in nothing but ids, counters and times
// have one name.
func (x *explorer) hash(n *node, v *view) [16]byte {
	b := x.buffer[:0]
	rename := map[string]string{}
	for _, t := range v.turns {
		rename[t.id] = t.fields["first"]
	}
	name := func(id string) string { return rename[id] }
	b = fmt.Appendf(b, "wait %v ready", v.wait)
	for _, id := range v.ready {
		b = append(append(b, ' '), name(id)...)
	}
	for i, h := range v.said {
		// What has ended is not read again.
		state, t := h["state"], v.turn(h["turn"])
		if state == "taken" && !t.open() {
			state = "ended"
		}
		b = fmt.Appendf(b, "\nmsg %d %s %t", i, state, v.turn(h["handed_turn"]).open())
	}
	for _, t := range v.turns {
		if t.open() {
			b = t.appendState(b, x.scene, n.store.Now)
		}
	}
	due := x.keys[:0]
	for member, score := range v.index {
		kind, rest, _ := strings.Cut(member, "|")
		_, id, _ := strings.Cut(rest, "|")
		due = append(due, kind+name(id)+strconv.FormatBool(score > float64(n.store.Now) && kind != "q"))
	}
	slices.Sort(due)
	x.keys = due
	b = fmt.Appendf(b, "\nindex %v put %v", due, n.put)
	w := n.worker
	b = fmt.Appendf(b, "\nworker %s %t %t", name(string(w.turn)), w.stopping, w.exhausted)
	x.buffer = b
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// appendState writes an open turn as hash sees it.
func (t turnView) appendState(b []byte, s scene, now int64) []byte {
	b = fmt.Appendf(b, "\nturn %s again %t void %t ", t.fields["first"], s.waits && t.fields["ended_by"] != "", t.fields["void"] != "")
	for _, k := range slices.Sorted(maps.Keys(t.fields)) {
		value := t.fields[k]
		read := strings.HasPrefix(k, "u:") || strings.HasPrefix(k, "k:")
		switch {
		case !decisive[k] && !read && !(ofRun[k] && t.fields["state"] == "running"):
			continue
		case k == "until":
			at, _ := strconv.ParseInt(value, 10, 64)
			value = strconv.FormatBool(at > now)
		case k == "attempts" && value > strconv.Itoa(s.attempts):
			value = "spent"
		case k == "handed" || read:
			value = ""
		}
		b = fmt.Appendf(b, "%s=%s;", k, value)
	}
	return fmt.Appendf(b, "steers %v log %v", t.steers, t.messages())
}
