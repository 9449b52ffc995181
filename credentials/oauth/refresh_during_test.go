package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// refreshes is one use of an account whose token is over, which stands still at
// the provider, asked, until answer is closed. result is what becomes of it.
func (k *kit) refreshes(ctx context.Context, f *fake) (answer chan struct{}, result chan error) {
	k.Helper()
	asked, answer, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	f.set(func() {
		f.token = func(w http.ResponseWriter, r *http.Request) {
			if r.PostForm.Get("grant_type") == "refresh_token" {
				once.Do(func() { close(asked) })
				<-answer
			}
			f.grant(w, r)
		}
	})
	k.clock.advance(2 * time.Hour)
	go func() {
		_, err := use(ctx, k.Service, f, plugins.Read)
		result <- err
	}()
	<-asked
	return answer, result
}

// A call that is stopped while a refresh is under way does not lose its answer.
func TestAStoppedCallDoesNotLoseARefresh(t *testing.T) {
	k, f := newAccount(t)
	before, _ := k.record(alice, "acme")
	ctx, cancel := context.WithCancel(t.Context())
	answer, result := k.refreshes(ctx, f)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	f.set(func() { f.token = nil })
	close(answer)
	// The next one waits for what the first has asked for.
	k.works(f)
	if now, _ := k.record(alice, "acme"); now.Refresh.Equal(before.Refresh) || len(f.spentTwice()) > 0 {
		t.Error("the refresh was lost")
	}
}

// Disconnected while a refresh is under way: the new tokens are given back, and
// the account does not come back.
func TestDisconnectDuringARefresh(t *testing.T) {
	k, f := newAccount(t)
	answer, result := k.refreshes(t.Context(), f)
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	before := f.tookBack()
	close(answer)
	if err := <-result; !errors.Is(err, oauth.ErrConnect) {
		t.Errorf("%v", err)
	}
	if _, there := k.record(alice, "acme"); there {
		t.Error("the account came back")
	}
	if late := f.tookBack()[len(before):]; len(late) != 2 {
		t.Errorf("taken back afterwards: %q", late)
	}
}

// Connected anew while a refresh is under way: the tokens that come late are given
// back, except where that would end the new connection too.
func TestConnectedAnewDuringARefresh(t *testing.T) {
	for _, whole := range []bool{false, true} {
		f := newFake(t)
		p := f.provider("acme")
		p.Revoke.Whole = whole
		k := newKit(t, []oauth.Configured{p})
		k.connect(f, "acme")
		answer, result := k.refreshes(t.Context(), f)
		k.connect(f, "acme")
		stands, _ := k.record(alice, "acme")
		before := len(f.tookBack())
		close(answer)
		if err := <-result; err != nil {
			t.Error(err)
		}
		late := f.tookBack()[before:]
		if want := map[bool]int{false: 2, true: 0}[whole]; len(late) != want || slices.Contains(late, stands.Access.Reveal()) {
			t.Errorf("whole %v: %d taken back, want %d", whole, len(late), want)
		}
		if now, _ := k.record(alice, "acme"); !now.Access.Equal(stands.Access) {
			t.Errorf("whole %v: the late tokens took the new ones' place", whole)
		}
	}
}
