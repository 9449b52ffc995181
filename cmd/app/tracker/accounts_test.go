package tracker

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"reeve/plugins"
	"reeve/plugins/mcp"
)

func TestEachCallGoesWithItsActorsAccount(t *testing.T) {
	s := newSite(t)
	h := newHouse(t, s)
	h.start()
	h.ready(1)
	if got := h.lacks(alice, "whoami"); got == nil || got.Provider != "mcp_tracker" {
		t.Fatalf("before she has connected an account: %+v", got)
	}
	h.connects(alice, "alice-there")
	if h.lacks(alice, "whoami") != nil || h.lacks(bob, "whoami") == nil {
		t.Fatal("her account is not hers alone")
	}
	if got := h.calls(bob, "whoami"); !got.Error || strings.Contains(got.Text, "alice-there") {
		t.Errorf("Bob has none: %+v", got)
	}
	h.connects(bob, "bob-there")
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			if got := h.gate.Call(t.Context(), asked(alice, "whoami")); got.Text != "you are alice-there" || !got.Private {
				t.Errorf("Alice is told %+v", got)
			}
		})
		group.Go(func() {
			if got := h.gate.Call(t.Context(), asked(bob, "whoami")); got.Text != "you are bob-there" {
				t.Errorf("Bob is told %+v", got)
			}
		})
	}
	group.Wait()
	// A session is one person's, and one call's.
	s.mu.Lock()
	sessions, calls := map[string]string{}, map[string]int{}
	for _, request := range s.requests {
		part := strings.Split(request, " ")
		if session := part[1]; session != "" {
			if was := sessions[session]; was != "" && was != part[2] {
				t.Errorf("a session was used by %s and %s", was, part[2])
			}
			sessions[session] = part[2]
			calls[session+part[0]]++
		}
	}
	if len(sessions) != 10 {
		t.Errorf("there were %d sessions for 10 calls", len(sessions))
	}
	for session := range sessions {
		if calls[session+"DELETE"] != 1 {
			t.Errorf("the session %s was ended %d times", session, calls[session+"DELETE"])
		}
	}
	for _, form := range s.forms {
		if form.Get("resource") != s.url() || form.Get("client_id") != "made-up-client" || form.Has("client_secret") {
			t.Errorf("the token was asked for with %v", form)
		}
	}
	s.mu.Unlock()
	h.spotless()
}

func TestTokenIsNotSeenWhereAServerWritesItDown(t *testing.T) {
	h := newHouse(t, newSite(t))
	h.startsForAlice()
	got := h.calls(alice, "headers")
	for _, want := range []string{"Authorization:[Bearer ***", "Bearer+***", base64.StdEncoding.EncodeToString([]byte("Bearer "))[:9], hex.EncodeToString([]byte("Bearer ")) + "***"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("there is no %s in %+v", want, got)
		}
	}
	for _, spelling := range plugins.Spellings(canary) {
		if strings.Contains(got.Text, spelling) {
			t.Errorf("it holds %s: %s", spelling, got.Text)
		}
	}
	h.spotless()
}

func TestBotIsRegisteredOnceForGood(t *testing.T) {
	s := newSite(t)
	h := newHouse(t, s)
	h.startsForAlice()
	h.stop()
	h.start()
	h.ready(2)
	if got := h.calls(alice, "whoami"); got.Text != "you are alice-there" {
		t.Errorf("after a restart: %+v", got)
	}
	h.stop()
	// What is known is enough while the other side is away.
	s.issuer.CloseClientConnections()
	s.issuer.Close()
	h.start()
	h.log.Wait(t, "is not known", 1)
	if got := h.calls(alice, "whoami"); got.Text != "you are alice-there" {
		t.Errorf("while the authorization server is away: %+v", got)
	}
	if s.registered != 1 {
		t.Errorf("it was registered %d times", s.registered)
	}
}

// An issuer that reads at the bot's own address what it is needs no registration.
func TestBotIsKnownByItsOwnAddress(t *testing.T) {
	s := newSite(t)
	s.meta.ClientIDMetadataDocumentSupported = true
	h := newHouse(t, s)
	h.startsForAlice()
	id := s.forms[0].Get("client_id")
	if id != h.public.URL+"/client/mcp_tracker" || s.registered != 0 {
		t.Fatalf("the client is %q, registered %d times", id, s.registered)
	}
	read := func(address string) (status int, said map[string]any) {
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&said)
		return response.StatusCode, said
	}
	status, said := read(id)
	if status != http.StatusOK || said["client_id"] != id || fmt.Sprint(said["redirect_uris"]) != "["+h.public.URL+"/callback/mcp_tracker]" || said["token_endpoint_auth_method"] != "none" {
		t.Errorf("%d %v", status, said)
	}
	if status, _ := read(h.public.URL + "/client/mcp_other"); status != http.StatusNotFound {
		t.Errorf("for a provider that is not there: %d", status)
	}
	if got := h.calls(alice, "whoami"); got.Text != "you are alice-there" {
		t.Errorf("got %+v", got)
	}
}

func TestConfiguredClientIsUsed(t *testing.T) {
	s := newSite(t)
	h := newHouse(t, s)
	h.write(`{"client_id": "ours", "client_secret": "`+canary+`-secret"}`, nil)
	h.startsForAlice()
	if form := s.forms[0]; form.Get("client_id") != "ours" || form.Get("client_secret") != canary+"-secret" || s.registered != 0 {
		t.Errorf("the token was asked for with %v", form)
	}
	h.spotless()
}

func TestCheckSaysWhatIsFoundAndRegistersNothing(t *testing.T) {
	s := newSite(t)
	h := newHouse(t, s)
	h.start()
	h.ready(1)
	for oauth, want := range map[string]string{
		`true`:                  "the bot registers itself there when it first starts, with the callback " + h.public.URL + "/callback/mcp_tracker",
		`{"client_id": "ours"}`: "the callback to register there for the client ours is " + h.public.URL + "/callback/mcp_tracker",
	} {
		h.write(oauth, nil)
		lines, warnings, err := mcp.New(mcp.Options{}).Report(t.Context(), h.services(nil))
		text := strings.Join(lines, "\n")
		if err != nil || len(warnings) > 0 || !strings.Contains(text, "people connect accounts at "+s.issuer.URL) || !strings.Contains(text, want) {
			t.Errorf("with %s: %s %q %v", oauth, text, warnings, err)
		}
	}
	if s.registered != 1 {
		t.Errorf("it was registered %d times", s.registered)
	}
}
