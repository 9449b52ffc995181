package chaos

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reeve/cmd/app/apptest"
)

// start starts a replica and does not wait for it.
func (p *place) start(settings ...string) *apptest.Process {
	p.t.Helper()
	return p.LaunchOther(p.t, p.set, settings...)
}

// ready waits until a replica has its sockets.
func (p *place) ready(r *apptest.Process) {
	p.t.Helper()
	p.await("the replica is connected", func() bool { return len(r.Journal.With("socket ready")) >= 2 || r.Ended() })
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

// counted is a counter of a replica's /metrics, by its name with labels, or
// without: all of them together. It is 0 when the replica cannot be asked.
func counted(r *apptest.Process, name string) (n int) {
	lines := r.Journal.With("serving health")
	if len(lines) == 0 || r.Ended() {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+lines[0].Text("addr")+"/metrics", nil)
	if err != nil {
		return 0
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	for text := bufio.NewScanner(answer.Body); text.Scan(); {
		if rest, ok := strings.CutPrefix(text.Text(), name); ok && rest != "" && (rest[0] == '{' || rest[0] == ' ') {
			value, _ := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
			n += int(value)
		}
	}
	return n
}
