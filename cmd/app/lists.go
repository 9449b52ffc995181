package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/slackapp"
)

// listsHung is how many looks at one list, or clicks in it, may hang, given up
// on, before it is left alone until some of them return.
const listsHung = 8

// lists are what the home tab shows. A plugin's panic or hang costs that look or
// click alone.
func (x *extensions) lists() []slackapp.HomeList {
	var all []slackapp.HomeList
	for _, o := range x.opened {
		if o.Home != nil {
			all = append(all, x.list(o.name, *o.Home))
		}
	}
	return all
}

func (x *extensions) list(plugin string, home plugins.Home) slackapp.HomeList {
	hung := new(atomic.Int32)
	return slackapp.HomeList{
		Name: plugin, Title: home.Title,
		Items: func(ctx context.Context, person chat.Actor) (items []chat.HomeItem, err error) {
			return within(ctx, x, plugin, hung, func() ([]chat.HomeItem, error) { return home.Items(ctx, person) })
		},
		Act: func(ctx context.Context, person chat.Actor, button, item string) (dm string, err error) {
			return within(ctx, x, plugin, hung, func() (string, error) { return home.Act(ctx, person, button, item) })
		},
	}
}

// within calls a plugin until ctx ends. What does not come back is left to
// itself, and counted.
func within[T any](ctx context.Context, x *extensions, plugin string, hung *atomic.Int32, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if n := hung.Load(); n >= listsHung {
		return none, fmt.Errorf("%d calls of its list in the home tab have not come back", n)
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: errors.New("a fault in its code")}
		defer func() {
			if fault := recover(); fault != nil {
				x.log.Error("home list panicked", "plugin", plugin, "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			}
			done <- out
		}()
		value, err := work()
		out = outcome{value, err}
	}()
	select {
	case out := <-done:
		return out.value, out.err
	case <-ctx.Done():
		hung.Add(1)
		go func() {
			<-done
			hung.Add(-1)
		}()
		return none, ctx.Err()
	}
}
