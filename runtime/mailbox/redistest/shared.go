package redistest

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// Space is one caller's part of a server, or of a Cluster, that a whole test
// binary shares: the keys under its prefix.
type Space struct {
	t      testing.TB
	url    string
	addrs  []string
	prefix string
}

// URL is the address as a setting.
func (s *Space) URL() string { return s.url }

// Addrs are the addresses of all nodes.
func (s *Space) Addrs() []string { return s.addrs }

// Prefix belongs to this caller alone. It has no braces and ends in no colon.
func (s *Space) Prefix() string { return s.prefix }

// Client returns a client that the test closes. It never repeats a command by
// itself.
func (s *Space) Client() redis.UniversalClient {
	var client redis.UniversalClient
	if len(s.addrs) > 1 {
		client = plainCluster(s.addrs)
	} else {
		client = plainClient(s.addrs[0])
	}
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Prefix returns a key prefix that no other caller in this test binary has.
func Prefix() string { return fmt.Sprintf("t%d", prefixes.Add(1)) }

var prefixes atomic.Int64

// Shared gives the caller its part of the one server of this test binary. The
// package's TestMain has to call Main, which ends the server.
func Shared(t testing.TB) *Space {
	t.Helper()
	return share(t, &sharedServer, "redis://")
}

// SharedCluster gives the caller its part of the one Cluster of this test
// binary, as Shared does.
func SharedCluster(t testing.TB) *Space {
	t.Helper()
	return share(t, &sharedCluster, clusterScheme)
}

func share(t testing.TB, c *common, scheme string) *Space {
	t.Helper()
	need(t)
	nodes, err := c.get()
	if err != nil {
		t.Fatal(err)
	}
	addrs := addresses(nodes)
	return &Space{t: t, url: urlOf(scheme, addrs), addrs: addrs, prefix: Prefix()}
}

var (
	sharedServer  = common{start: startOne}
	sharedCluster = common{start: startThree}
)

// common is what all tests of a binary share: started by the first that asks,
// ended by Main.
type common struct {
	start func(dir string, opts ...Option) ([]*node, error)

	mu    sync.Mutex
	main  bool // Main is there to end it
	opts  []Option
	asked bool
	dir   string
	nodes []*node
	err   error
}

func (c *common) get() ([]*node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.main {
		return nil, fmt.Errorf("share a redis-server: nobody would end it; " +
			"add func TestMain(m *testing.M) { redistest.Main(m) }")
	}
	if !c.asked {
		c.asked = true
		if c.dir, c.err = os.MkdirTemp("", "redistest"); c.err == nil {
			c.nodes, c.err = c.start(c.dir, c.opts...)
		}
	}
	return c.nodes, c.err
}

func (c *common) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		n.end()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
}

func startOne(dir string, opts ...Option) ([]*node, error) {
	n := durable(dir, opts...)
	return []*node{n}, n.start()
}

// Main is the TestMain of a package that calls Shared or SharedCluster: it
// runs the tests, ends the servers, fails on leaked goroutines and exits.
func Main(m *testing.M, opts ...Option) {
	goleak.VerifyTestMain(run{m, opts})
}

// NoSync is for shared servers under suites that kill none: what was written
// waits for no disk. A server that is killed loses nothing by it either; only a
// machine that fails would.
func NoSync() Option { return Config("appendfsync", "no") }

type run struct {
	m    *testing.M
	opts []Option
}

func (r run) Run() int {
	for _, c := range []*common{&sharedServer, &sharedCluster} {
		c.mu.Lock()
		c.main, c.opts = true, r.opts
		c.mu.Unlock()
		defer c.end()
	}
	return r.m.Run()
}
