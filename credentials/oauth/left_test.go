package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/runtime/chat"
)

var errAway = errors.New("away")

// dying is a client of a process that dies when an account is put: before, or right
// after.
type dying struct {
	after bool
	dead  atomic.Bool
}

// errDead is nothing that anybody tries again.
var errDead = fmt.Errorf("this process is dead: %w", context.Canceled)

func (d *dying) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (d *dying) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if d.dead.Load() {
			return errDead
		}
		return next(ctx, cmds)
	}
}

func (d *dying) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		text := fmt.Sprint(cmd.Args()...) // of the steps before, none has both keys
		is := strings.Contains(text, ":account:T1:UALICE:acme") && strings.Contains(text, ":permits:T1:UALICE:acme")
		if is && !d.after {
			d.dead.Store(true)
		}
		if d.dead.Load() {
			cmd.SetErr(errDead)
			return errDead
		}
		err := next(ctx, cmd)
		if is && err == nil {
			d.dead.Store(true)
		}
		return err
	}
}

// leave has Alice enter her code in a process that dies with her account: before it
// is put, or after.
func (k *kit) leave(f *fake, providers []oauth.Configured, put bool) {
	k.Helper()
	client, d := k.space.Client(), &dying{after: put}
	client.AddHook(d)
	vault := credentials.NewVault(client, k.prefix, true, keys(k))
	b := newBrowser(k)
	link := k.begin(alice, "acme")
	code := b.get(f.allow(k, b.follow(link))).code(k)
	process := k.another(providers, func(o *oauth.Options) { o.Vault = vault })
	if _, _, err := process.Enter(k.Context(), link.Flow, alice, code); err != nil {
		k.Fatal(err)
	}
	if _, there := k.record(alice, "acme"); there != put || !d.dead.Load() {
		k.Fatalf("the account is there: %v", there)
	}
}

// recover has another process find what was left.
func (k *kit) recover(providers []oauth.Configured) {
	k.Helper()
	k.clock.advance(2 * time.Minute)
	if err := k.another(providers).Sweep(k.Context()); err != nil {
		k.Fatal(err)
	}
}

func (k *kit) wantEnded(how chat.How) {
	k.Helper()
	if got := k.endings(); len(got) != 1 || got[0].how != how || got[0].wait != "7" {
		k.Errorf("waits ended: %+v, want one %s", got, how)
	}
}

// Of an account that its person has disconnected before he could be told of it he is
// not told.
func TestADisconnectedAccountIsNotToldOf(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.deaf = errAway
	k.connect(f, "acme")
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	k.deaf = nil
	k.mu.Unlock()
	k.recover(providers)
	if got := k.tellings(); len(got) != 0 {
		t.Errorf("told: %+v", got)
	}
}

// What was proved before its process died is connected by another one.
func TestAProvedAccountOutlivesItsProcess(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.leave(f, providers, false)
	k.recover(providers)
	if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != 200 {
		t.Errorf("%d, %v", status, err)
	}
	if len(k.tellings()) != 1 {
		t.Errorf("told: %+v", k.tellings())
	}
	k.wantEnded(chat.ByAccount)
	k.wantAudited("connect browser_code")
}

// A process dies with an account put and not yet told of. Its person disconnects
// before another process finds what was left: the account does not come back.
func TestADisconnectedAccountDoesNotComeBack(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.leave(f, providers, true)
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	k.recover(providers)
	if r, there := k.record(alice, "acme"); there {
		t.Errorf("it came back: %+v", r)
	}
	if got := k.tellings(); len(got) != 0 {
		t.Errorf("told: %+v", got)
	}
	k.wantEnded(chat.ByRefusal)
	k.wantAudited("connect browser_code", "disconnect home", "!connect superseded")
	// It was ended for good: nothing is left that somebody would look at again.
	k.recover(providers)
	if reminders, err := k.vault.Reminders(t.Context()); err != nil || len(reminders) != 0 {
		t.Errorf("%q, %v", reminders, err)
	}
	k.connect(f, "acme")
	if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != 200 {
		t.Errorf("connected again: %d, %v", status, err)
	}
}

// The same before the account was put: nothing is connected when its person
// disconnects, and nothing is afterwards. What was allowed is taken back.
func TestWhatWasProvedBeforeADisconnectConnectsNothing(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.leave(f, providers, false)
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	k.recover(providers)
	if _, there := k.record(alice, "acme"); there {
		t.Error("it was connected afterwards")
	}
	if got := f.tookBack(); len(got) != 2 {
		t.Errorf("%d tokens were taken back", len(got))
	}
	k.wantEnded(chat.ByRefusal)
}

// A process dies with an account put, whose tokens are then renewed, or which is
// connected once more. Another process does the rest, and changes nothing of it.
func TestWhatIsFinishedLaterUndoesNothing(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.leave(f, providers, true)
	f.set(func() { f.lifetime = 7200 })
	k.clock.advance(59*time.Minute + 30*time.Second)
	if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != 200 {
		t.Fatalf("%d, %v", status, err)
	}
	renewed, _ := k.record(alice, "acme")
	k.recover(providers)
	if now, _ := k.record(alice, "acme"); !now.Access.Equal(renewed.Access) || !now.Refresh.Equal(renewed.Refresh) || len(f.tookBack()) != 0 {
		t.Errorf("the renewed tokens were replaced; %d were taken back", len(f.tookBack()))
	}
	if len(k.tellings()) != 1 {
		t.Errorf("told: %+v", k.tellings())
	}
	k.wantEnded(chat.ByAccount)

	k = newKit(t, providers)
	k.leave(f, providers, true)
	k.connect(f, "acme")
	anew, _ := k.record(alice, "acme")
	k.recover(providers)
	if now, _ := k.record(alice, "acme"); !now.Access.Equal(anew.Access) {
		t.Error("the newer account was replaced by the older")
	}
	if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != 200 {
		t.Errorf("%d, %v", status, err)
	}
}

// Whoever disconnects ends what he has begun as well: a code that a page shows, and
// one that he would enter at the provider. His link stays good.
func TestDisconnectEndsWhatWasBegun(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	b := newBrowser(t)
	link := k.begin(alice, "acme")
	code := b.get(f.allow(t, b.follow(link))).code(t)
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	if sentence, _, err := k.Enter(t.Context(), link.Flow, alice, code); err != nil || strings.HasPrefix(sentence, "Connected") {
		t.Errorf("%q, %v", sentence, err)
	}
	if got := f.tookBack(); len(got) != 2 {
		t.Errorf("%d tokens were taken back", len(got))
	}
	code = b.get(f.allow(t, b.follow(link))).code(t)
	if sentence, _, err := k.Enter(t.Context(), link.Flow, alice, code); err != nil || !strings.HasPrefix(sentence, "Connected") {
		t.Errorf("opened again: %q, %v", sentence, err)
	}

	providers = []oauth.Configured{f.withDevice(f.provider("acme"))}
	k = newKit(t, providers, withoutURL)
	k.begin(alice, "acme")
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.forms = nil })
	k.clock.advance(10 * time.Second)
	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.set(func() {}); len(f.forms) != 0 || len(k.endings()) != 0 {
		t.Errorf("the provider was asked %d times; waits ended: %+v", len(f.forms), k.endings())
	}
}
