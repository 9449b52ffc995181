package app

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Whatever a plugin's list does, the process and the other lists go on.
func TestABadHomeListCostsItselfAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		release := make(chan struct{})
		x := &extensions{log: slog.New(slog.NewTextHandler(&log, nil)), opened: []opened{
			{"panics", plugins.Extension{Home: &plugins.Home{
				Items: func(context.Context, chat.Actor) ([]chat.HomeItem, error) { panic("what Alice keeps") },
				Act:   func(context.Context, chat.Actor, string, string) (string, error) { panic("what Alice keeps") },
			}}},
			{"hangs", plugins.Extension{Home: &plugins.Home{
				Items: func(context.Context, chat.Actor) ([]chat.HomeItem, error) { <-release; return nil, nil },
				Act:   func(context.Context, chat.Actor, string, string) (string, error) { <-release; return "", nil },
			}}},
			{"none", plugins.Extension{}},
			{"good", plugins.Extension{Home: &plugins.Home{
				Items: func(context.Context, chat.Actor) ([]chat.HomeItem, error) { return []chat.HomeItem{{ID: "1"}}, nil },
				Act:   func(_ context.Context, _ chat.Actor, button, item string) (string, error) { return button + item, nil },
			}}},
		}}
		lists := x.lists()
		if len(lists) != 3 {
			t.Fatalf("%d lists", len(lists))
		}
		for _, l := range lists {
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				items, itemsErr := l.Items(ctx, alice)
				dm, actErr := l.Act(ctx, alice, "a", "b")
				cancel()
				if l.Name == "good" && (itemsErr != nil || actErr != nil || len(items) != 1 || dm != "ab") || l.Name != "good" && (itemsErr == nil || actErr == nil) {
					t.Errorf("%s: %v %v, %q %v", l.Name, items, itemsErr, dm, actErr)
				}
			}
		}
		if _, err := lists[1].Items(t.Context(), alice); err == nil || !strings.Contains(err.Error(), "have not come back") {
			t.Errorf("a list of which too much hangs: %v", err)
		}
		close(release)
		synctest.Wait()
		if _, err := lists[1].Items(t.Context(), alice); err != nil {
			t.Errorf("a list that has come back: %v", err)
		}
		if strings.Contains(log.String(), "what Alice keeps") || !strings.Contains(log.String(), "plugin=panics") {
			t.Errorf("the log:\n%s", log.String())
		}
	})
}

// A plugin whose background work does not end does not keep the process.
func TestBackgroundWorkThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, begun := make(chan struct{}), make(chan struct{})
		var log strings.Builder
		x := &extensions{log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Second, grace: 20 * time.Second, opened: []opened{
			{"stays", plugins.Extension{Run: func(context.Context) error { close(begun); <-release; return nil }}},
			{"ends", plugins.Extension{Run: func(ctx context.Context) error { <-ctx.Done(); <-time.After(10 * time.Second); return nil }}},
		}}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-begun; cancel() }()
		start := time.Now()
		if err := x.run(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("it took %v", took)
		}
		if !strings.Contains(log.String(), "plugin=stays") || strings.Contains(log.String(), "plugin=ends") {
			t.Errorf("the log:\n%s", log.String())
		}
		close(release)
	})
}
