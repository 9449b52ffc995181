package oauth_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// A connection that a process of a former release has begun, which knew of no
// permits, is made by one of this release: whoever enters the code while the bot is
// replaced is not told that he has refused.
func TestAConnectionOfAFormerReleaseIsMade(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.withDevice(f.provider("acme"))}
	f.token = func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(f.issue("f1", "read"))
	}
	k := newKit(t, providers, withoutURL)
	link := k.begin(alice, "acme")
	kept, err := k.vault.Flow(t.Context(), "connect:"+link.Flow)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(kept.Value, &fields); err != nil || fields["permit"] == nil {
		t.Fatalf("%v, %v", fields["permit"], err)
	}
	delete(fields, "permit")
	former, _ := json.Marshal(fields)
	if _, err := k.vault.SwapFlow(t.Context(), kept, former); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(10 * time.Second)
	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != 200 {
		t.Errorf("%d, %v", status, err)
	}
	if got := f.tookBack(); len(got) != 0 {
		t.Errorf("%d tokens were taken back", len(got))
	}
	k.wantEnded(chat.ByAccount)
}
