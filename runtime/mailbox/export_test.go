package mailbox

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Teach lets the store know the scripts before they are called.
func (b *Box) Teach(ctx context.Context) error { return b.load(ctx, b.scripts.all()) }

// LoseAnswers lets the store carry out every step and loses its first answer,
// so that each step is sent a second time.
func (b *Box) LoseAnswers() { b.rdb.AddHook(&deaf{heard: map[string]bool{}}) }

// Behave lets f stand for the server: it says how long the next call takes, and
// how it ends.
func (b *Box) Behave(f func() (time.Duration, error)) { b.rdb.AddHook(behaves(f)) }

type behaves func() (time.Duration, error)

func (f behaves) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f behaves) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (f behaves) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		took, err := f()
		select {
		case <-time.After(took):
		case <-ctx.Done():
			err = ctx.Err()
		}
		cmd.SetErr(err)
		return err
	}
}

type deaf struct {
	mu    sync.Mutex
	heard map[string]bool
}

func (d *deaf) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (d *deaf) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (d *deaf) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, cmd := range cmds {
			if key := fmt.Sprint(cmd.Args()...); cmd.Name() == "evalsha" && cmd.Err() == nil && !d.heard[key] {
				d.heard[key] = true
				cmd.SetErr(io.EOF)
				err = io.EOF
			}
		}
		return err
	}
}

// Prefix begins every key.
func (b *Box) Prefix() string { return b.keys.prefix }

// DieAfter lets the process die when it has sent so many steps: no more of them
// reach the server, and none is answered.
func (b *Box) DieAfter(steps int) { b.rdb.AddHook(&dying{left: steps}) }

type dying struct {
	mu   sync.Mutex
	left int
}

func (d *dying) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (d *dying) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (d *dying) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, cmd := range cmds {
			if cmd.Name() != "evalsha" {
				return next(ctx, cmds)
			}
		}
		if d.left--; d.left < 0 {
			for _, cmd := range cmds {
				cmd.SetErr(context.Canceled)
			}
			return context.Canceled
		}
		return next(ctx, cmds)
	}
}
