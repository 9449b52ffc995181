package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// slots is how many hash slots a Redis Cluster has.
const slots = 16384

const clusterScheme = "redis+cluster://"

// Cluster is a Redis Cluster of three masters that belongs to a test.
type Cluster struct {
	// Nodes hold a third of the slots each, in this order.
	Nodes []*Server
	t     testing.TB
}

// StartCluster starts three masters and returns when each of them sees the
// whole Cluster. The test ends them.
func StartCluster(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	need(t)
	nodes, err := startThree(t.TempDir(), opts...)
	c := &Cluster{t: t}
	for _, n := range nodes {
		t.Cleanup(n.end)
		c.Nodes = append(c.Nodes, &Server{t: t, node: n})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// URL is the Cluster's address as a setting: "redis+cluster://h1:p1,h2:p2,h3:p3".
func (c *Cluster) URL() string { return urlOf(clusterScheme, c.Addrs()) }

// Addrs are the addresses of the nodes, in their order.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, s := range c.Nodes {
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// Client returns a client of the Cluster that the test closes. It never repeats
// a command by itself, so that a slot that moved is an error once.
func (c *Cluster) Client() *redis.ClusterClient {
	client := plainCluster(c.Addrs())
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Await returns when each node sees the whole Cluster. A node that was killed
// and restarted answers before it has joined again, at first with CLUSTERDOWN.
func (c *Cluster) Await() {
	c.t.Helper()
	for _, s := range c.Nodes {
		if err := await(s.node.proc, s.node.clustered); err != nil {
			c.t.Fatalf("await cluster: %s: %v\n%s", s.Addr(), err, s.node.logTail())
		}
	}
}

// startThree starts and joins three nodes. What it returns beside an error
// still has to be ended.
func startThree(dir string, opts ...Option) ([]*node, error) {
	var nodes []*node
	for i := range 3 {
		sub := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nodes, fmt.Errorf("make cluster directory: %w", err)
		}
		bus, err := freePort()
		if err != nil {
			return nodes, err
		}
		n := durable(sub, append([]Option{
			Config("cluster-enabled", "yes"),
			Config("cluster-port", strconv.Itoa(bus)),
			Config("cluster-node-timeout", "5000"),
		}, opts...)...)
		n.bus = bus
		nodes = append(nodes, n)
		if err := n.start(); err != nil {
			return nodes, err
		}
	}
	return nodes, join(nodes)
}

// join makes one Cluster of fresh nodes and waits until all of them see it.
func join(nodes []*node) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i, n := range nodes {
		client := plainClient(n.addr())
		defer client.Close()
		cmds := [][]any{
			{"cluster", "set-config-epoch", i + 1},
			{"cluster", "addslotsrange", i * slots / len(nodes), (i+1)*slots/len(nodes) - 1},
		}
		for _, other := range nodes[:i] {
			cmds = append(cmds, []any{"cluster", "meet", "127.0.0.1", other.port, other.bus})
		}
		for _, cmd := range cmds {
			if err := client.Do(ctx, cmd...).Err(); err != nil {
				return fmt.Errorf("join cluster: %v: %w", cmd[:2], err)
			}
		}
	}
	for _, n := range nodes {
		if err := await(n.proc, n.clustered); err != nil {
			return fmt.Errorf("join cluster: %s: %w\n%s", n.addr(), err, n.logTail())
		}
	}
	return nil
}

// clustered reports whether the node sees every slot served by the three.
func (n *node) clustered(ctx context.Context) error {
	client := plainClient(n.addr())
	defer client.Close()
	info, err := client.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	for _, want := range []string{"cluster_state:ok", "cluster_slots_ok:16384", "cluster_size:3"} {
		if !strings.Contains(info, want+"\r\n") {
			return fmt.Errorf("not %s:\n%s", want, info)
		}
	}
	return nil
}

func plainCluster(addrs []string) *redis.ClusterClient {
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                    addrs,
		MaxRedirects:             -1, // they would repeat a write after a lost answer, too
		DialerRetries:            1,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

func addresses(nodes []*node) []string {
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.addr())
	}
	return addrs
}

func urlOf(scheme string, addrs []string) string { return scheme + strings.Join(addrs, ",") }
