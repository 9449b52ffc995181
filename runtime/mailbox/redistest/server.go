// Package redistest gives a test a real redis-server: alone, as a three-node
// Cluster, or behind a Sentinel. Servers listen on loopback only, keep every
// write (appendonly, appendfsync always) in a directory of the test, and are
// gone when the test, or the test binary, is.
//
// A suite that only needs some Redis uses Shared, with a TestMain that calls
// Main; one that kills, pauses or reconfigures starts a server of its own.
// Methods that can fail end the test and so belong in its own goroutine.
package redistest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Server is one redis-server that belongs to a test.
type Server struct {
	t    testing.TB
	node *node
}

// Option changes how a server is started.
type Option func(*node)

// Config sets one line of the server's configuration file; it stands after
// the shipped ones and so wins.
func Config(name, value string) Option {
	return func(n *node) { n.config = append(n.config, line(name, value)) }
}

// Start starts a server and returns when it answers. The test ends it.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	need(t)
	return own(t, durable(t.TempDir(), opts...))
}

// own starts a node and gives it to a test.
func own(t testing.TB, n *node) *Server {
	t.Helper()
	t.Cleanup(n.end)
	if err := n.start(); err != nil {
		t.Fatal(err)
	}
	return &Server{t: t, node: n}
}

// durable is a node under which the mailbox's promises hold.
func durable(dir string, opts ...Option) *node {
	n := &node{dir: dir, config: []string{
		line("appendonly", "yes"),
		line("appendfsync", "always"),
		line("maxmemory-policy", "noeviction"),
		line("save", ""),
	}}
	for _, opt := range opts {
		opt(n)
	}
	return n
}

// Addr is the server's address, "127.0.0.1:PORT". It outlives restarts.
func (s *Server) Addr() string { return s.node.addr() }

// URL is the server's address as a setting: "redis://127.0.0.1:PORT".
func (s *Server) URL() string { return "redis://" + s.Addr() }

// Dir is where the server keeps its files; it outlives restarts.
func (s *Server) Dir() string { return s.node.dir }

// AOF lists the append-only files, the manifest included, in name order.
func (s *Server) AOF() []string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.node.dir, "appendonlydir", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// Client returns a client of the server that the test closes. It never
// repeats a command by itself.
func (s *Server) Client() *redis.Client {
	client := plainClient(s.Addr())
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// ConfigSet changes a setting of the running server; a restart forgets it.
func (s *Server) ConfigSet(name, value string) {
	s.t.Helper()
	if err := s.node.configSet(name, value); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the server as a crash would (SIGKILL) and returns when it is gone.
func (s *Server) Kill() {
	s.t.Helper()
	if err := s.node.kill(); err != nil {
		s.t.Fatal(err)
	}
}

// Stop lets the server end by itself (SIGTERM) and returns when it is gone.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.node.stop(); err != nil {
		s.t.Fatal(err)
	}
}

// Restart starts the server again on the same port with the same files. One
// that still runs is stopped first.
func (s *Server) Restart() {
	s.t.Helper()
	if s.node.running() {
		s.Stop()
	}
	if err := s.node.start(); err != nil {
		s.t.Fatal(err)
	}
}

// Pause freezes the server (SIGSTOP) and returns when it stands still. The
// kernel still accepts connections for it; nothing answers.
func (s *Server) Pause() {
	s.t.Helper()
	if err := s.node.pause(); err != nil {
		s.t.Fatal(err)
	}
}

// Resume lets a paused server go on (SIGCONT).
func (s *Server) Resume() {
	s.t.Helper()
	if err := s.node.resume(); err != nil {
		s.t.Fatal(err)
	}
}
