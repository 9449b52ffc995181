package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"syscall"
	"time"
)

// process is a child that dies with the test binary.
type process struct {
	pid  int
	os   *os.Process
	done chan struct{} // closed when it is gone
}

func begin(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(cmd, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the child and waits for its end. It keeps one thread for as long
// as the child lives: the kernel takes the end of the thread that started it
// for the end of the parent.
func (p *process) run(cmd *exec.Cmd, started chan<- error) {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid, p.os = cmd.Process.Pid, cmd.Process
	started <- nil
	_ = cmd.Wait() // its log says how it ended
	close(p.done)
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) signal(signal syscall.Signal) error {
	if err := p.os.Signal(signal); err != nil {
		return fmt.Errorf("signal %v to redis-server %d: %w", signal, p.pid, err)
	}
	return nil
}

// end sends signals and waits until the process is gone, by force if need be.
func (p *process) end(signals ...syscall.Signal) error {
	for _, signal := range signals {
		if err := p.signal(signal); err != nil {
			return err
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		_ = p.os.Kill()
		<-p.done
		return fmt.Errorf("end redis-server %d: still there after %v, killed", p.pid, patience)
	}
}

// pause returns when every thread of the process stands still; the signal
// alone would leave it a moment in which it still answers.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("pause redis-server %d: %w", p.pid, err)
		case !status.Stopped():
			return fmt.Errorf("pause redis-server %d: it ended", p.pid)
		default:
			return nil
		}
	}
}

// await asks until the answer is good, the process (if any) ends, or patience
// does.
func await(p *process, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var done chan struct{}
	if p != nil {
		done = p.done
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("not ready after %v: %w", patience, err)
		case <-tick.C:
		}
	}
}
