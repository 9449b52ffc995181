package gaps

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"reeve/cmd/app"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/runtime/mailbox/redistest"
)

// quickly makes this test binary another main: Reeve with shorter intervals.
const quickly = "GAPS_QUICKLY"

func TestMain(m *testing.M) {
	if os.Getenv(quickly) != "" {
		os.Exit(app.Main(os.Args[1:], []plugins.Plugin{clock.New(time.Now)}, app.Options{
			LeaseTTL: 2 * time.Second, LeaseMargin: 400 * time.Millisecond, RenewEvery: 500 * time.Millisecond,
			RetryEvery: 100 * time.Millisecond, StampEvery: 100 * time.Millisecond, GapAfter: gapAfter, ReadRate: 1000,
		}))
	}
	redistest.Main(m, goleak.Cleanup(func(code int) {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
		os.Exit(code)
	}))
}

// gapAfter is how long nobody must be able to acknowledge in these tests.
const gapAfter = 1500 * time.Millisecond

// built is the shipped binary, built once.
var built struct {
	once sync.Once
	dir  string
	err  error
	out  []byte
}

func shipped(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "gaps"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", filepath.Join(built.dir, "reeve"), "reeve/cmd/reeve")
		built.out, built.err = build.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("build reeve: %v\n%s", built.err, built.out)
	}
	return filepath.Join(built.dir, "reeve")
}

// replica is one process of Reeve, and what it logs.
type replica struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended

	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // closed and renewed at each write
}

func (r *replica) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.written)
	r.written = make(chan struct{})
	return r.text.Write(p)
}

// logged counts the lines of the log that hold all of some texts.
func (r *replica) logged(texts ...string) (n int, next <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
line:
	for line := range strings.Lines(r.text.String()) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue line
			}
		}
		n++
	}
	return n, r.written
}

// start starts a process; with no path it is this binary, with its intervals.
func (p *place) start(path string) *replica {
	p.t.Helper()
	env := p.env
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			p.t.Fatal(err)
		}
		path, env = self, append(env[:len(env):len(env)], quickly+"=1")
	}
	r := &replica{cmd: exec.Command(path, "run"), done: make(chan struct{}), written: make(chan struct{})}
	r.cmd.Dir, r.cmd.Stderr = p.t.TempDir(), r
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env[:len(env):len(env)], name+"="+value)
		}
	}
	r.cmd.Env = env
	dieWithParent(r.cmd)
	started := make(chan error, 1)
	go func() {
		// The kernel takes the end of the thread that started a child for the
		// end of its parent.
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		err := r.cmd.Start()
		started <- err
		if err == nil {
			_ = r.cmd.Wait()
			close(r.done)
		}
	}()
	before := p.slack.Sockets()
	if err := <-started; err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		r.kill()
		if p.t.Failed() {
			p.t.Logf("%s", r.text.String())
		}
	})
	if err := p.slack.WaitConnected(p.ctx, before+2); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// kill ends it as a crash does, and returns when it is gone.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill()
	<-r.done
}
