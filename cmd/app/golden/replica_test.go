package golden

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

// replica is one process of Reeve.
type replica struct {
	process *os.Process
	done    chan struct{} // closed when it has ended and all it wrote is read
	code    int
}

// launch starts a process that writes its log into the place's journal. It is
// gone when the test is, or the test binary.
func (p *place) launch(t testing.TB, env []string, command ...string) *replica {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(plainEnvironment(), env...)
	cmd.Stderr = p.journal.writer()
	dieWithParent(cmd)
	r := &replica{done: make(chan struct{})}
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
			r.code = cmd.ProcessState.ExitCode()
			close(r.done)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	r.process = cmd.Process
	t.Cleanup(r.kill)
	return r
}

// kill ends it as a crash does, and returns when it is gone.
func (r *replica) kill() {
	_ = r.process.Kill()
	<-r.done
}

func (r *replica) signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := r.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// end waits until it has ended by itself, and answers its exit code.
func (r *replica) end(limit time.Duration) (int, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.done:
		return r.code, nil
	case <-timer.C:
		return 0, errors.New("the process has not ended after " + limit.String())
	}
}

// term ends it as an operator does; it must end well.
func (r *replica) term(t testing.TB) {
	t.Helper()
	r.signal(t, syscall.SIGTERM)
	code, err := r.end(20 * time.Second)
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
