package app

import (
	"context"
	"errors"
	"sync/atomic"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// starter is what begins the turns of what is due. It is there when everything
// is put together; plugins are opened before.
type starter struct {
	due atomic.Pointer[func(ctx context.Context, plugin string, due plugins.Due) (bool, error)]
}

// serve gives a plugin what it may use of a store and of turns.
func (x *extensions) serve(plugin string, given *plugins.Services) {
	given.Store = func(person chat.Actor) plugins.Store { return x.store(plugin, person) }
	given.Start = func(ctx context.Context, due plugins.Due) (bool, error) {
		start := x.starter.due.Load()
		if start == nil {
			return false, errors.New("start what is due: nothing runs yet")
		}
		return (*start)(ctx, plugin, due)
	}
}

// begin lets plugins start what is due from here on.
func (x *extensions) begin(start func(ctx context.Context, plugin string, due plugins.Due) (bool, error)) {
	x.starter.due.Store(&start)
}
