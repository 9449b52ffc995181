package apptest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is one process of Reeve.
type Process struct {
	// Journal is what this process has logged.
	Journal *Journal

	process *os.Process
	done    chan struct{} // closed when it has ended and all it wrote is read
	code    int
}

// launch starts a process that writes its log into a journal of its own and
// into others. It is gone when the test is, or the test binary.
func launch(t testing.TB, env []string, command []string, into ...*Journal) *Process {
	t.Helper()
	p := &Process{Journal: &Journal{}, done: make(chan struct{})}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(plainEnvironment(), env...)
	written := &lineWriter{journals: append([]*Journal{p.Journal}, into...)}
	cmd.Stdout, cmd.Stderr = written, written
	dieWithParent(cmd)
	started := make(chan error, 1)
	go func() {
		// The kernel takes the end of the thread that started a child for the
		// end of its parent.
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			p.code = cmd.ProcessState.ExitCode()
			close(p.done)
			for _, j := range into {
				j.look()
			}
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	p.process = cmd.Process
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchStops(p.process.Pid, func() {
			for _, j := range into {
				j.look()
			}
		})
	}()
	t.Cleanup(func() {
		p.Kill()
		<-watched
	})
	return p
}

// Kill ends it as a crash does, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.process.Kill()
	<-p.done
}

// Signal sends it a signal; it must be there.
func (p *Process) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := p.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// ID is the process's id.
func (p *Process) ID() int { return p.process.Pid }

// Ended reports whether it is gone.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// End waits until it has ended by itself, and answers its exit code.
func (p *Process) End(limit time.Duration) (int, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.code, nil
	case <-timer.C:
		return 0, errors.New("the process has not ended after " + limit.String())
	}
}

// Term ends it as an operator does; it must end well.
func (p *Process) Term(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGTERM)
	code, err := p.End(20 * time.Second)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d", code)
	}
	if err != nil {
		t.Fatalf("after SIGTERM: %v", err)
	}
}

// plainEnvironment is this process's own without settings of Reeve, which the
// shell of whoever runs the tests may hold.
func plainEnvironment() []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "PATH", "HOME", "TMPDIR", "GOCOVERDIR":
			env = append(env, entry)
		}
	}
	return env
}
