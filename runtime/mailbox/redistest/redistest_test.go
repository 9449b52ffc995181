package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("REDISTEST_ORPHAN"); dir != "" {
		orphan(dir)
	}
	Main(m)
}

// orphan is the whole life of the test binary that
// TestServerDiesWithItsTestBinary kills.
func orphan(dir string) {
	n := durable(dir)
	fmt.Println(n.start(), n.addr())
	select {} // until killed
}

func TestAcknowledgedWriteOutlivesKill(t *testing.T) {
	s := Start(t)
	client := s.Client()
	if err := client.Set(t.Context(), "k", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	addr := s.Addr()
	s.Kill()
	if err := client.Get(t.Context(), "k").Err(); err == nil {
		t.Fatal("a killed server answers")
	}
	s.Restart()
	if s.Addr() != addr {
		t.Errorf("address after restart: %s, want %s", s.Addr(), addr)
	}
	if got, err := client.Get(t.Context(), "k").Result(); err != nil || got != "kept" {
		t.Errorf("get after kill and restart: %q, %v", got, err)
	}
}

func TestStopAndRestartKeepTheData(t *testing.T) {
	s := Start(t)
	client := s.Client()
	if err := client.Set(t.Context(), "k", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Pause()
	s.Stop() // a paused server can be stopped too
	s.Restart()
	s.Restart()
	if got, err := client.Get(t.Context(), "k").Result(); err != nil || got != "kept" {
		t.Errorf("get after stop and restart: %q, %v", got, err)
	}
}

func TestShippedSettingsAreTheDurableOnes(t *testing.T) {
	s := Start(t, Config("maxmemory", "50mb"))
	for name, want := range map[string]string{
		"appendonly":       "yes",
		"appendfsync":      "always",
		"maxmemory-policy": "noeviction",
		"save":             "",
		"bind":             "127.0.0.1",
		"maxmemory":        "52428800",
	} {
		got, err := s.Client().ConfigGet(t.Context(), name).Result()
		if err != nil || got[name] != want {
			t.Errorf("config %s: %q, %v; want %q", name, got[name], err, want)
		}
	}
	s.ConfigSet("appendfsync", "everysec")
	if got := s.Client().ConfigGet(t.Context(), "appendfsync").Val(); got["appendfsync"] != "everysec" {
		t.Errorf("config after ConfigSet: %v", got)
	}
}

func TestAOFHoldsWhatWasWritten(t *testing.T) {
	s := Start(t)
	if err := s.Client().Set(t.Context(), "k", "needle-in-the-log", 0).Err(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range s.AOF() {
		if !strings.HasPrefix(file, s.Dir()) {
			t.Errorf("%s is outside of %s", file, s.Dir())
		}
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(part)
	}
	if !strings.Contains(all.String(), "needle-in-the-log") {
		t.Errorf("the write is in none of %v", s.AOF())
	}
}

func TestPausedServerAnswersNothingUntilResumed(t *testing.T) {
	s := Start(t)
	client := s.Client()
	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var timeout net.Error
	if err := client.Ping(ctx).Err(); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("ping of a paused server: %v, want a timeout", err)
	}
	s.Resume()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("ping after resume: %v", err)
	}
}

func TestSharedCallersShareAServerAndNoKeys(t *testing.T) {
	a, b := Shared(t), Shared(t)
	if a.URL() != b.URL() || !strings.HasPrefix(a.URL(), "redis://127.0.0.1:") {
		t.Errorf("urls: %s, %s", a.URL(), b.URL())
	}
	if a.Prefix() == b.Prefix() {
		t.Errorf("both have prefix %s", a.Prefix())
	}
	if err := a.Client().Set(t.Context(), a.Prefix()+":k", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n := b.Client().Exists(t.Context(), a.Prefix()+":k", b.Prefix()+":k").Val(); n != 1 {
		t.Errorf("keys: %d, want 1", n)
	}
}

func TestSharedClusterServesEverySlot(t *testing.T) {
	t.Parallel()
	s := SharedCluster(t)
	client := s.Client()
	for i := range 100 {
		key := fmt.Sprintf("%s:{%d}:k", s.Prefix(), i)
		if err := client.Set(t.Context(), key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Get(t.Context(), key).Int(); err != nil || got != i {
			t.Errorf("get %s: %d, %v", key, got, err)
		}
	}
}

func TestClusterNodesHoldAThirdEachAndComeBack(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	if want := "redis+cluster://" + strings.Join(c.Addrs(), ","); c.URL() != want {
		t.Errorf("url: %s, want %s", c.URL(), want)
	}
	client := c.Client()
	for i := range 60 {
		if err := client.Set(t.Context(), fmt.Sprintf("{%d}", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range c.Nodes {
		if n := s.Client().DBSize(t.Context()).Val(); n == 0 || n == 60 {
			t.Errorf("node %d holds %d of 60 keys", i, n)
		}
	}
	c.Nodes[1].Kill()
	c.Nodes[1].Restart()
	c.Await()
	for i := range 60 {
		if got, err := client.Get(t.Context(), fmt.Sprintf("{%d}", i)).Int(); err != nil || got != i {
			t.Errorf("get {%d} after kill and restart: %d, %v", i, got, err)
		}
	}
}

func TestSentinelFailsOverToTheReplica(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	if want := "redis+sentinel://" + s.Addr() + "/mymaster"; s.URL() != want {
		t.Errorf("url: %s, want %s", s.URL(), want)
	}
	pubsub := s.Client().Subscribe(t.Context(), "+switch-master")
	t.Cleanup(func() { _ = pubsub.Close() })
	if _, err := pubsub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Primary.Kill()
	told, err := pubsub.ReceiveMessage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, port, _ := net.SplitHostPort(s.Replica.Addr()); !strings.HasSuffix(told.Payload, " "+port) {
		t.Errorf("switched: %s, want to port %s", told.Payload, port)
	}
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: s.Master(), SentinelAddrs: []string{s.Addr()},
	})
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Set(t.Context(), "k", 1, 0).Err(); err != nil {
		t.Errorf("write after failover: %v", err)
	}
}

func TestVersionsBeforeSevenAreRefused(t *testing.T) {
	for printed, ok := range map[string]bool{
		"Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64": true,
		"Redis server v=8.2.1 sha=00000000:1 malloc=jemalloc-5.3.0 bits=64":  true,
		"Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64": false,
		"usage: something else": false,
	} {
		err := checkVersion(printed)
		if (err == nil) != ok {
			t.Errorf("%q: %v", printed, err)
		}
		if err != nil && !strings.Contains(err.Error(), "apt-get install redis-server") {
			t.Errorf("%q: %v does not say what to install", printed, err)
		}
	}
}
