package moods

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
)

// Redis answers, and takes no writes: it is a replica now, or its memory is
// full, or it still loads what it had.
func TestP10_RedisInEveryMood(t *testing.T) {
	t.Parallel()
	// So long for each key that it loads, in microseconds, that it loads until it is
	// told to make haste.
	server := redistest.Start(t, redistest.Config("key-load-delay", "100"), redistest.Config("loading-process-events-interval-bytes", "1024"))
	rdb := server.Client()
	p := newPlace(t, server)
	r := p.StartOther(t, shorter)
	p.asks("UALICE")
	p.answered()
	set := func(command ...any) func() {
		return func() {
			p.t.Helper()
			if err := rdb.Do(p.t.Context(), command...).Err(); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	t.Run("READONLY", func(t *testing.T) {
		// Of a primary that never answers, so that it keeps what it has.
		p.lives(t, r, set("replicaof", "127.0.0.1", "1"), set("replicaof", "no", "one"))
		if !p.refused("READONLY") {
			t.Error("the log does not name it")
		}
	})
	t.Run("OOM", func(t *testing.T) {
		p.lives(t, r, set("config", "set", "maxmemory", "1"), set("config", "set", "maxmemory", "0"))
		if !p.refused("OOM") {
			t.Error("the log does not name it")
		}
	})
	t.Run("LOADING", func(t *testing.T) {
		if _, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			for n := range 80_000 { // 10 s
				pipe.Set(t.Context(), fmt.Sprint("ballast:", n), "", 0)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		compact(t, rdb)
		loaded := make(chan struct{})
		p.lives(t, r, func() {
			server.Kill()
			go func() {
				defer close(loaded)
				server.Restart()
			}()
		}, func() {
			p.Until(t, "a message is refused for loading", func() bool { return p.refused("LOADING") })
			set("config", "set", "key-load-delay", "0")()
			<-loaded
		})
	})
}

// compact lets Redis write all that it has into the base file of its append-only
// log, in the loading of which it answers every few keys.
func compact(t *testing.T, rdb *redis.Client) {
	t.Helper()
	if err := rdb.BgRewriteAOF(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(apptest.Patience); ; {
		info, err := rdb.Info(t.Context(), "persistence").Result()
		if err != nil || time.Now().After(end) {
			t.Fatalf("the log is not rewritten: %v", err)
		}
		if strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0") {
			return
		}
	}
}

// refused: the log names what Redis answered.
func (p *place) refused(answer string) bool {
	return p.Journal.Holding("message not durable", answer) > 0
}

// What the server promises to keep is looked at while the process runs, and a
// start that requires more is refused with the exit code of a wrong setting.
func TestDurabilityIsAskedForEndToEnd(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := newPlace(t, server)
	r := p.StartOther(t, shorter, "REDIS_DURABILITY=require")
	server.ConfigSet("appendfsync", "everysec")
	p.Until(t, "the running process tells of it", func() bool {
		return r.Journal.Holding(`"level":"ERROR"`, "redis may lose what it has acknowledged", "appendfsync", "loses the last second") > 0
	})
	// It does not count as ready, and goes on with what it has.
	ready := func() int {
		response, err := http.Get("http://" + r.HTTPAddr() + "/readyz")
		if err != nil || response.Body.Close() != nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
	if code := ready(); code != http.StatusServiceUnavailable {
		t.Errorf("while Redis may lose what it has acknowledged it says %d", code)
	}
	p.asks("UALICE")
	p.answered()
	server.ConfigSet("appendfsync", "always")
	p.Until(t, "it being content again", func() bool { return r.Journal.Holding("redis keeps what it acknowledges again") > 0 })
	if code := ready(); code != http.StatusOK {
		t.Errorf("when Redis keeps everything again it says %d", code)
	}
	server.ConfigSet("appendfsync", "everysec")
	r.Term(t)

	refused := p.LaunchOther(t, shorter, "REDIS_DURABILITY=require")
	code, err := refused.End(apptest.Patience)
	if err != nil || code != 3 {
		t.Fatalf("the start that requires more ends with %d %v: %q", code, err, refused.Journal.Texts())
	}
	if refused.Journal.Holding("Redis appendfsync", "everysec", "CONFIG SET appendfsync always") == 0 {
		t.Errorf("it does not say what to do: %q", refused.Journal.Texts())
	}
	warned := p.StartOther(t, shorter, "REDIS_DURABILITY=warn")
	if warned.Journal.Holding(`"level":"WARN"`, "redis may lose", "appendfsync", "loses the last second") == 0 {
		t.Errorf("a start that warns says nothing: %q", warned.Journal.Texts())
	}
	p.asks("UALICE")
	p.answered()
	warned.Term(t)
}
