package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// people are accounts of everybody at every provider.
type people struct {
	standing gate.Standing
	open     func(ctx context.Context) error
}

func (people) Knows(string) bool { return true }

func (p people) Look(context.Context, chat.Actor, string, []string) (gate.Standing, error) {
	return p.standing, nil
}

func (p people) Open(ctx context.Context, _ gate.Use) (*plugins.Account, func(), error) {
	if p.open != nil {
		if err := p.open(ctx); err != nil {
			return nil, nil, err
		}
	}
	return &plugins.Account{}, func() {}, nil
}

// A call that was let through and not made after all, or of which nobody knows
// whether it was, leaves a record that says so behind the first one.
func TestWhatBecameOfACallIsOnRecord(t *testing.T) {
	for name, test := range map[string]struct {
		act  act // nil: it hangs, whatever it is told
		open func(ctx context.Context) error
		end  time.Duration // of the run
		want []string
	}{
		"it answers": {act: says("did it"), want: []string{"allowed writes"}},
		"it fails": {act: func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
			return plugins.Result{}, errors.New("it is no good")
		}, want: []string{"allowed writes"}},
		"the account is refused": {act: says("did it"), open: func(context.Context) error { return errors.New("the account has to be connected again") },
			want: []string{"allowed writes", "refused account"}},
		"the account panics": {act: says("did it"), open: func(context.Context) error { panic("x") },
			want: []string{"allowed writes", "refused fault"}},
		"it hangs, deaf": {want: []string{"allowed writes", "unknown late"}},
		"it hangs until it is told": {act: func(ctx context.Context, _ plugins.Call, _ arguments) (plugins.Result, error) {
			<-ctx.Done()
			return plugins.Result{}, ctx.Err()
		}, want: []string{"allowed writes", "unknown late"}},
		"the run ends": {end: time.Second, act: func(ctx context.Context, _ plugins.Call, _ arguments) (plugins.Result, error) {
			<-ctx.Done()
			return plugins.Result{}, ctx.Err()
		}, want: []string{"allowed writes", "unknown run_over"}},
		"it panics": {act: func(context.Context, plugins.Call, arguments) (plugins.Result, error) { panic("x") },
			want: []string{"allowed writes", "unknown fault"}},
		"it does not know itself": {act: func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
			return plugins.Result{Text: "the answer was lost", Unknown: true}, nil
		}, want: []string{"allowed writes", "unknown no_answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				if test.act == nil {
					test.act = func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
						<-release
						return plugins.Result{}, nil
					}
				}
				hub := tool(t, "hub_write", plugins.Once, test.act)
				hub.Provider, hub.Account, hub.Access = "hub", true, plugins.Write
				var kept []string
				keys := map[string]bool{}
				g := build(t, gate.Options{Accounts: people{gate.Standing{Connected: true}, test.open}, Audit: func(ctx context.Context, r plugins.AuditRecord) error {
					if ctx.Err() != nil || keys[r.Key] || r.Principal != alice || r.Arguments == "" {
						return fmt.Errorf("%w, or a record twice: %+v", ctx.Err(), r)
					}
					keys[r.Key] = true
					kept = append(kept, string(r.Decision)+" "+r.Rule)
					return nil
				}}, hub)
				ctx := t.Context()
				if test.end != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.end)
					defer cancel()
				}
				asked := call("hub_write", `{"city":"x"}`)
				asked.Run = in(typed("do"))
				got := g.Call(ctx, asked)
				if !slices.Equal(kept, test.want) {
					t.Errorf("kept: %q, want %q", kept, test.want)
				}
				if got.Error == (name == "it answers") {
					t.Errorf("answered: %+v", got)
				}
				if doubt := strings.Contains(got.Text, "unknown") || strings.Contains(got.Text, "was lost"); doubt != strings.HasPrefix(kept[len(kept)-1], string(plugins.AuditUnknown)) {
					t.Errorf("the model is told %q", got.Text)
				}
			})
		})
	}
}

// While too many calls of a tool have not come back, it is refused, and that is on
// record too.
func TestAToolThatIsOutOfOrderIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		hub := tool(t, "hub_read", plugins.Pure, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
			<-release
			return plugins.Result{}, nil
		})
		hub.Provider = "hub"
		var kept []string
		g := build(t, gate.Options{MaxHung: 1, Audit: func(_ context.Context, r plugins.AuditRecord) error {
			kept = append(kept, string(r.Decision)+" "+r.Rule)
			return nil
		}}, hub)
		for _, id := range []string{"c1", "c2"} {
			asked := call("hub_read", `{"city":"x"}`)
			asked.Call.ID = id
			g.Call(t.Context(), asked)
		}
		if want := []string{"allowed reads", "unknown late", "refused out_of_order"}; !slices.Equal(kept, want) {
			t.Errorf("kept: %q, want %q", kept, want)
		}
	})
}

// An audit log that panics has kept nothing.
func TestAnAuditLogThatPanicsRefuses(t *testing.T) {
	hub, ran := sender(t, nil)
	hub.Provider = "hub"
	g := build(t, gate.Options{Audit: func(context.Context, plugins.AuditRecord) error { panic("x") }}, hub)
	asked := call("send", `{"city":"x"}`)
	asked.Run = in(typed("do"))
	if got := g.Call(t.Context(), asked); !got.Error || *ran {
		t.Errorf("%+v, ran %v", got, *ran)
	}
}
