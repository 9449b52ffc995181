package chaos

import (
	"syscall"

	"reeve/cmd/app/apptest"
)

// start starts a replica and does not wait for it.
func (p *place) start(settings ...string) *apptest.Process {
	p.t.Helper()
	return p.LaunchOther(p.t, p.set, settings...)
}

// ready waits until a replica has its sockets, or was broken before: what the one
// before it left undone brings it to its point at once.
func (p *place) ready(r *apptest.Process) {
	p.t.Helper()
	p.await("the replica is connected", func() bool {
		return len(r.Journal.With("socket ready")) >= 2 || r.Ended() || r.Frozen()
	})
}

// runs reports whether a replica has begun a run of a turn.
func runs(r *apptest.Process, turn string) bool {
	return len(r.Journal.With("turn runs", "turn", turn)) > 0
}

// freeze stops a replica where it stands, until wake.
func (p *place) freeze(r *apptest.Process) {
	p.t.Helper()
	r.Signal(p.t, syscall.SIGSTOP)
}

func (p *place) wake(r *apptest.Process) {
	p.t.Helper()
	r.Signal(p.t, syscall.SIGCONT)
}

// counted is a counter of a replica; 0 when it cannot be asked.
func counted(r *apptest.Process, name string) int {
	n, _ := r.Figure(name)
	return int(n)
}
