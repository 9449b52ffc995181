package redistest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// patience bounds every wait of the harness. It is generous because a loaded
// machine is no failure.
const patience = 20 * time.Second

// node is one redis-server: what it needs to be started again, and its
// process while it runs. It is not safe for concurrent use.
type node struct {
	dir    string
	port   int // 0 until the first start
	bus    int // port of the cluster bus, of a cluster node
	config []string
	args   []string // after the configuration file
	proc   *process
}

func line(name, value string) string {
	if value == "" {
		value = `""`
	}
	return name + " " + value
}

func (n *node) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port)) }

func (n *node) running() bool { return n.proc != nil && !n.proc.ended() }

// start starts the process and waits until it answers. Only a first start
// picks the port, and picks again when somebody else was quicker.
func (n *node) start() error {
	if n.port != 0 {
		return n.launch()
	}
	var err error
	for range 5 {
		if n.port, err = freePort(); err != nil {
			return err
		}
		if err = n.launch(); !errors.Is(err, errExited) {
			return err
		}
	}
	return err
}

var errExited = errors.New("redis-server ended at once")

func (n *node) launch() error {
	conf := filepath.Join(n.dir, "redis.conf")
	lines := append([]string{
		"bind 127.0.0.1",
		"port " + strconv.Itoa(n.port),
		line("dir", strconv.Quote(n.dir)),
	}, n.config...)
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("write config of redis-server: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(n.dir, "redis.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log of redis-server: %w", err)
	}
	defer log.Close()
	cmd := exec.Command("redis-server", append([]string{conf}, n.args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = n.dir, log, log
	if n.proc, err = begin(cmd); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	err = await(n.proc, n.answers)
	if err != nil {
		n.end()
		return fmt.Errorf("start redis-server on %s: %w\n%s", n.addr(), err, n.logTail())
	}
	return nil
}

// answers reports whether this process, and no other on its port, is ready.
func (n *node) answers(ctx context.Context) error {
	// A bare connection first: go-redis logs each one that is refused.
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", n.addr())
	if err != nil {
		return err
	}
	_ = conn.Close()
	client := plainClient(n.addr())
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return err
	}
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", n.proc.pid)) {
		return errors.New("another server answers")
	}
	return nil
}

func (n *node) configSet(name, value string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := plainClient(n.addr())
	defer client.Close()
	if err := client.ConfigSet(ctx, name, value).Err(); err != nil {
		return fmt.Errorf("config set %s: %w", name, err)
	}
	return nil
}

func (n *node) kill() error   { return n.proc.end(syscall.SIGKILL) }
func (n *node) stop() error   { return n.proc.end(syscall.SIGCONT, syscall.SIGTERM) }
func (n *node) pause() error  { return n.proc.pause() }
func (n *node) resume() error { return n.proc.signal(syscall.SIGCONT) }

// end is for cleaning up: whatever state the node is in, it is gone after.
func (n *node) end() {
	if n.running() {
		_ = n.kill()
	}
}

func (n *node) logTail() string {
	log, err := os.ReadFile(filepath.Join(n.dir, "redis.log"))
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-2000):])
}

// freePort returns a loopback port that nobody listens on. It stays below the
// kernel's ephemeral range, so that no outgoing connection takes it while a
// server is down between two starts.
func freePort() (int, error) {
	for range 100 {
		port := 16384 + rand.IntN(16384)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("find a free port: none in a hundred tries")
}

// plainClient is a client that does what it is told and nothing by itself.
func plainClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:                     addr,
		MaxRetries:               -1,
		DialerRetries:            1,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}
