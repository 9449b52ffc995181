package bench

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// twoReplicas are two processes of Reeve on one Redis and one Slack, and which
// of them has a socket.
func twoReplicas(b *testing.B, w *workspace, p place) (replicas [2]*bot, of func(socket int) int) {
	b.Helper()
	replicas[0] = startRole(b, roleReeve, p)
	last := 0
	for _, e := range w.Events(0) {
		if e.Kind == simulator.Connected {
			last = e.Socket
		}
	}
	replicas[1] = startRole(b, roleReeve, p)
	return replicas, func(socket int) int {
		if socket <= last {
			return 0
		}
		return 1
	}
}

// held says something whose model call is held, and waits until it is made. It
// returns where it stands and to which socket it went.
func (w *workspace) held(b *testing.B, model *provider, word string) (in, ts string, socket int) {
	b.Helper()
	mark := w.Mark()
	in, ts = w.mention(word, simulator.SayOptions{Twin: simulator.MessageOnly})
	got, ok := within(model.arrived, 30*time.Second)
	if !ok || got.word != word {
		b.Fatalf("%s did not reach the model, but %q", word, got.word)
	}
	return in, ts, w.socketOf(mark, ts)
}

// socketOf is the socket to which a message after a mark went.
func (w *workspace) socketOf(mark int64, ts string) int {
	for _, e := range w.Events(mark) {
		if e.Kind == simulator.Sent && bytes.Contains(e.Envelope.Payload, []byte(`"event_ts":"`+ts)) {
			return e.Socket
		}
	}
	return 0
}

// within waits for one value.
func within[T any](c <-chan T, limit time.Duration) (v T, ok bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case v = <-c:
		return v, true
	case <-timer.C:
		return v, false
	}
}

func stops(b *testing.B) {
	server := newRedis(b)
	w, model := newWorkspace(b), newProvider(b)
	_, replica := twoReplicas(b, w, place{slack: w.Server, model: model, redis: server.URL(), prefix: "reeve"})
	w.askMany(100, 4)
	var same, other times
	for n := 0; len(other) < 200 && n < 1000; n++ {
		word := fmt.Sprintf("HOLD-stop%d", n)
		in, ts, runs := w.held(b, model, word)
		mark := w.Mark()
		said := time.Now()
		stop := w.Say(simulator.Alice, in, "stop", simulator.SayOptions{Thread: ts})
		cut, ok := within(model.cut, 30*time.Second)
		if !ok || cut.word != word {
			b.Fatalf("the model call of %s was not cut, but that of %q", word, cut.word)
		}
		w.reply(ts)
		if replica(runs) == replica(w.socketOf(mark, stop)) {
			same = append(same, cut.at.Sub(said))
		} else {
			other = append(other, cut.at.Sub(said))
		}
	}
	const goal = 50 * time.Millisecond
	results.add(row{what: "stop -> model call cut, in the same replica: median, p99", got: ms(same.median()) + ", " + ms(same.p99())})
	results.add(row{
		what: "stop -> model call cut, in another replica: median, p99", goal: "p99 < 50 ms",
		got: ms(other.median()) + ", " + ms(other.p99()), met: judged(other.p99() < goal),
	})
	b.ReportMetric(float64(other.p99())/1e6, "stop-p99-ms")
}

func lostWorkers(b *testing.B) {
	server := newRedis(b)
	w, model := newWorkspace(b), newProvider(b)
	p := place{slack: w.Server, model: model, redis: server.URL(), prefix: "reeve"}
	var took times
	for kill := range 2 {
		replicas, replica := twoReplicas(b, w, p)
		w.askMany(20, 4)
		lost := map[string]bool{}
		for n := range 24 {
			word := fmt.Sprintf("HOLD-lost%dx%d", kill, n)
			if _, _, socket := w.held(b, model, word); replica(socket) == 0 {
				lost[word] = true
			}
		}
		killed := time.Now()
		replicas[0].kill()
		for range len(lost) {
			again, ok := within(model.arrived, 30*time.Second)
			if !ok || !lost[again.word] {
				b.Fatalf("no lost turn was resumed, but %q", again.word)
			}
			took = append(took, again.at.Sub(killed))
		}
		model.release()
		replicas[1].stop()
	}
	const goal = 12 * time.Second
	results.add(row{
		what: fmt.Sprintf("dead worker -> turn resumed, %d turns of 2 killed replicas: median, most", len(took)),
		goal: "< 12 s, every time", got: fmt.Sprintf("%.1f s, %.1f s", took.median().Seconds(), took.most().Seconds()),
		met: judged(took.most() < goal),
	})
	b.ReportMetric(took.most().Seconds(), "resumed-most-s")
}
