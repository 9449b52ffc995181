package credentials

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed account_get.lua
	accountGetSource string
	//go:embed account_write.lua
	accountWriteSource string
	//go:embed account_delete.lua
	accountDeleteSource string
	//go:embed permit.lua
	permitSource string
	//go:embed intend.lua
	intendSource string
	//go:embed release.lua
	releaseSource string
	//go:embed rewrap.lua
	rewrapSource string
	//go:embed flow_write.lua
	flowWriteSource string
	//go:embed flow_take.lua
	flowTakeSource string
	//go:embed announce.lua
	announceSource string
	//go:embed replicas.lua
	replicasSource string
	//go:embed audit_append.lua
	auditAppendSource string
)

// script is one step. Its name carries a version: a release that changes what it
// does gives it a new one.
type script struct {
	name string
	*redis.Script
}

type scripts struct {
	get, write, remove, permit, intend, release, rewrap, flowWrite, flowTake, announce, replicas, auditAppend script
}

// newScripts builds the scripts. The embedded store does not know the header, which
// makes touching another slot's key an error.
func newScripts(header bool) *scripts {
	make := func(name, source string) script {
		source = "-- " + name + "\n" + source
		if header {
			source = "#!lua\n" + source
		}
		return script{name, redis.NewScript(source)}
	}
	return &scripts{
		get: make("account_get_v1", accountGetSource), write: make("account_write_v2", accountWriteSource),
		remove: make("account_delete_v2", accountDeleteSource), permit: make("permit_v1", permitSource), intend: make("intend_v1", intendSource),
		release: make("release_v1", releaseSource), rewrap: make("rewrap_v1", rewrapSource),
		flowWrite: make("flow_write_v1", flowWriteSource), flowTake: make("flow_take_v1", flowTakeSource),
		announce: make("announce_v1", announceSource), replicas: make("replicas_v1", replicasSource),
		auditAppend: make("audit_append_v1", auditAppendSource),
	}
}

const (
	// callTimeout bounds one step with its retries.
	callTimeout = 5 * time.Second
	// settleTimeout is that of a step that keeps what a provider has just given
	// out, and gives out but once: Redis may be restarted, or replaced, meanwhile.
	settleTimeout = time.Minute
)

// store is a Redis on which steps are made.
type store struct {
	redis  redis.UniversalClient
	prefix string
	*scripts
}

// run makes one step, with its retries: every step answers a repeated call as it
// answered the first.
func (s store) run(ctx context.Context, step script, keys []string, args ...any) ([]any, error) {
	return s.runFor(ctx, callTimeout, step, keys, args...)
}

func (s store) runFor(ctx context.Context, limit time.Duration, step script, keys []string, args ...any) (got []any, err error) {
	err = trying(ctx, limit, func(ctx context.Context) (err error) {
		got, err = step.Run(ctx, s.redis, keys, args...).Slice()
		return err
	})
	return got, err
}

// trying does something again that got no answer for want of a connection, or was
// refused for a reason that passes, until it is answered or its time is over.
func trying(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		err := do(ctx)
		if err == nil || !passing(err) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// passing reports whether an error may be gone at the next try.
func passing(err error) bool {
	for _, prefix := range []string{"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS", "MISCONF", "OOM"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	var answer redis.Error
	return !errors.As(err, &answer) && !errors.Is(err, redis.ErrClosed) && !errors.Is(err, context.Canceled)
}

// number is a whole number in an answer.
func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case string:
		var parsed int64
		_, _ = fmt.Sscan(n, &parsed)
		return parsed
	}
	return 0
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
