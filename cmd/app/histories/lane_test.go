package histories

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// lane plays one history after the other, on one embedded store that is empty
// when each begins.
type lane struct {
	box   *mailbox.Box
	clock time.Time // of the store; it stands still but for the acts that move it
	now   atomic.Pointer[house]
	gates map[gate.Policy]*gate.Gate
}

const leaseTTL = time.Minute

func newLane(t *testing.T) *lane {
	box, err := mailbox.Open(mailbox.Options{LeaseTTL: leaseTTL, LeaseMargin: 10 * time.Second, CallTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Shutdown() })
	return &lane{box: box, clock: time.Now(), gates: map[gate.Policy]*gate.Gate{}}
}

// pass lets the store's time pass.
func (l *lane) pass(d time.Duration) {
	l.clock = l.clock.Add(d)
	if err := l.box.SetClock(l.clock); err != nil {
		panic(err)
	}
}

// gate is the one of a policy. It asks whatever world is played.
func (l *lane) gate(policy gate.Policy) *gate.Gate {
	if g, ok := l.gates[policy]; ok {
		return g
	}
	g := gate.New(gate.Options{Policy: policy, Accounts: l})
	if err := g.Set("desk", l.tools(), false); err != nil {
		panic(err)
	}
	back := plugins.MustTool(plugins.Tool{
		Name: plugins.HandBackTool, Description: "Hands back.", Effect: plugins.Idempotent, Access: plugins.Read,
	}, func(ctx context.Context, call plugins.Call, in struct {
		Message string `json:"message"`
	}) (plugins.Result, error) {
		return l.now.Load().handBack(ctx, call, in.Message)
	})
	if err := g.SetOwn([]plugins.Tool{back}); err != nil {
		panic(err)
	}
	l.gates[policy] = g
	return g
}

// Knows implements gate.Accounts.
func (l *lane) Knows(provider string) bool { return provider == "box" }

// Look implements gate.Accounts.
func (l *lane) Look(_ context.Context, who chat.Actor, _ string, _ []string) (gate.Standing, error) {
	return l.now.Load().standing(who), nil
}

// Open implements gate.Accounts.
func (l *lane) Open(_ context.Context, use gate.Use) (*plugins.Account, func(), error) {
	if !l.now.Load().standing(use.Actor).Connected {
		return nil, nil, fmt.Errorf("there is no account at %s", use.Provider)
	}
	return &plugins.Account{ID: use.Actor.Key()}, func() {}, nil
}
