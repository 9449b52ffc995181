package redistest

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// master is the name under which the Sentinel knows its primary.
const master = "mymaster"

// Sentinel is a primary with one replica, watched by a Sentinel that decides
// alone (quorum 1) and soon (a primary silent for one second is down).
type Sentinel struct {
	*Server // the Sentinel itself
	Primary *Server
	Replica *Server
}

// StartSentinel starts the three and returns when the Sentinel could fail over
// to the replica. The test ends them.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	need(t)
	primary := Start(t, Config("repl-diskless-sync-delay", "0"))
	replica := Start(t, Config("replicaof", fmt.Sprintf("127.0.0.1 %d", primary.node.port)))
	if err := await(replica.node.proc, replica.node.linked); err != nil {
		t.Fatalf("start replica: %v\n%s", err, replica.node.logTail())
	}
	watch := &node{dir: t.TempDir(), args: []string{"--sentinel"}, config: []string{
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 1", master, primary.node.port),
		"sentinel down-after-milliseconds " + master + " 1000",
		"sentinel failover-timeout " + master + " 3000",
	}}
	s := &Sentinel{Server: own(t, watch), Primary: primary, Replica: replica}
	if err := await(watch.proc, watch.watches); err != nil {
		t.Fatalf("start sentinel: %v\n%s", err, watch.logTail())
	}
	return s
}

// URL is the address as a setting: "redis+sentinel://127.0.0.1:PORT/mymaster".
func (s *Sentinel) URL() string { return "redis+sentinel://" + s.Addr() + "/" + s.Master() }

// Master is the name under which the Sentinel knows its primary.
func (s *Sentinel) Master() string { return master }

// linked reports whether the node is a replica in step with its primary.
func (n *node) linked(ctx context.Context) error {
	client := plainClient(n.addr())
	defer client.Close()
	info, err := client.Info(ctx, "replication").Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, "master_link_status:up\r\n") {
		return fmt.Errorf("not linked:\n%s", info)
	}
	return nil
}

// watches reports whether the node is a Sentinel that knows a usable replica.
func (n *node) watches(ctx context.Context) error {
	client := plainClient(n.addr())
	defer client.Close()
	reply, err := client.Do(ctx, "sentinel", "replicas", master).Slice()
	if err != nil {
		return err
	}
	if told := fmt.Sprint(reply...); !strings.Contains(told, "master-link-status:ok") &&
		!strings.Contains(told, "master-link-status ok") {
		return fmt.Errorf("no usable replica: %s", told)
	}
	return nil
}
