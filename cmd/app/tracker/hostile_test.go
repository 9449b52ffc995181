package tracker

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// nobodyConnects fails if anybody could.
func (h *house) nobodyConnects(why string) {
	h.Helper()
	h.log.Wait(h.T, why, 1)
	if h.oauth.Knows("mcp_tracker") || h.lacks(alice, "whoami") != nil {
		h.Error("people can connect accounts there")
	}
	if _, err := h.oauth.Begin(h.Context(), oauth.For{Actor: alice, Provider: "mcp_tracker"}); err == nil {
		h.Error("somebody was given a link")
	}
	if got := h.calls(alice, "whoami"); !got.Error {
		h.Errorf("a call was made: %+v", got)
	}
	if n := len(h.site.requests) + h.site.registered; n != 0 {
		h.Errorf("%d requests went on", n)
	}
}

func TestHostileMetadataAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *site, elsewhere string)
		why    string
	}{
		"metadata on another host": {func(s *site, elsewhere string) { s.challenge = elsewhere + "/.well-known/oauth-protected-resource" }, "which is another host and is not asked"},
		"another resource":         {func(s *site, elsewhere string) { s.resource.Resource = elsewhere + "/mcp" }, "metadata resource"},
		"no authorization server":  {func(s *site, _ string) { s.resource.AuthorizationServers = nil }, "names no authorization server"},
		"another's metadata":       {func(s *site, elsewhere string) { s.meta.Issuer = elsewhere }, "does not match issuer"},
		"no PKCE":                  {func(s *site, _ string) { s.meta.CodeChallengeMethodsSupported = nil }, "PKCE"},
		"plain PKCE":               {func(s *site, _ string) { s.meta.CodeChallengeMethodsSupported = []string{"plain"} }, "PKCE with S256"},
		"tokens without TLS":       {func(s *site, _ string) { s.meta.TokenEndpoint = "http://tokens.example.com/" }, "does not use HTTPS"},
		"inside the house":         {func(s *site, _ string) { s.resource.AuthorizationServers = []string{"https://192.168.1.1"} }, "refers to a non-public address"},
		"an odd port":              {func(s *site, elsewhere string) { s.resource.AuthorizationServers = []string{elsewhere} }, "only the ports 80 and 443 are asked"},
		"a secret for nobody":      {func(s *site, _ string) { s.meta.TokenEndpointAuthMethodsSupported = []string{"client_secret_basic"} }, "only clients with a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			var reached atomic.Bool
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
			defer elsewhere.Close()
			s := newSite(t)
			test.change(s, elsewhere.URL)
			h := newHouse(t, s)
			h.start()
			h.nobodyConnects(test.why)
			if reached.Load() {
				t.Error("the other host was asked")
			}
		})
	}
}

func TestTokenForAnotherIsRefused(t *testing.T) {
	for name, change := range map[string]func(s *site){
		"audience": func(s *site) { s.audience = "https://other.example.com/mcp" },
		"issuer":   func(s *site) { s.says = "https://other.example.com" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			change(s)
			h := newHouse(t, s)
			h.start()
			h.ready(1)
			if page, _ := h.page(alice, "alice-there"); !strings.Contains(page, "Nothing is connected") || shownCode.MatchString(page) {
				t.Errorf("the page is %s", page)
			}
			if h.lacks(alice, "whoami") == nil || len(s.requests) != 0 {
				t.Error("the token is used")
			}
			h.spotless()
		})
	}
}

func TestServerThatTakesNoTokenIsNotAskedWithoutEnd(t *testing.T) {
	s := newSite(t)
	h := newHouse(t, s)
	h.startsForAlice()
	h.connects(bob, "bob-there")
	var asked atomic.Int32
	inner := s.mcp.Config.Handler
	s.mcp.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); inner.ServeHTTP(w, r) })
	s.change(func() {
		s.refuse["alice-there"] = true
		s.challenge = "https://evil.example.com/.well-known/oauth-protected-resource"
	})
	if got := h.calls(alice, "whoami"); !got.Error || !strings.Contains(got.Text, "connect the account anew") {
		t.Errorf("got %+v", got)
	}
	if n := asked.Load(); n > 3 {
		t.Errorf("it was asked %d times", n)
	}
	if h.lacks(alice, "whoami") == nil {
		t.Error("she is not asked to connect her account anew")
	}
	if got := h.calls(bob, "whoami"); got.Text != "you are bob-there" {
		t.Errorf("Bob is told %+v", got)
	}
	h.spotless()
}

// A server that names another authorization server is not followed there, until
// the operator says so. Then the old tokens are good for nothing.
func TestAuthorizationServerStaysUntilTheOperatorChangesIt(t *testing.T) {
	s, other := newSite(t), newSite(t)
	h := newHouse(t, s)
	h.others = []*site{other}
	h.startsForAlice()
	s.change(func() { s.resource.AuthorizationServers = []string{other.issuer.URL} })
	h.reload <- syscall.SIGHUP
	h.log.Wait(t, "it names another authorization server than before", 1)
	if got := h.calls(alice, "whoami"); got.Text != "you are alice-there" {
		t.Errorf("got %+v", got)
	}
	h.page(bob, "bob-there") // which fails where the browser is sent to another one
	if other.registered != 0 {
		t.Error("the other authorization server is used")
	}
	before := len(s.requests)
	h.write(`{"issuer": "`+other.issuer.URL+`"}`, nil)
	h.reload <- syscall.SIGHUP
	h.ready(2)
	if h.lacks(alice, "whoami") == nil {
		t.Error("the old authorization server's token is still used")
	}
	if got := h.calls(alice, "whoami"); !got.Error || len(s.requests) != before || len(other.forms) != 0 {
		t.Errorf("got %+v", got)
	}
	if sentence, err := h.oauth.Disconnect(t.Context(), alice, "mcp_tracker", oauth.ViaHome); err != nil || len(other.forms) != 0 {
		t.Error(sentence, err)
	}
}

func TestTokenGoesToNoOtherAddress(t *testing.T) {
	s, other := newSite(t), newSite(t)
	h := newHouse(t, s)
	h.others = []*site{other}
	h.startsForAlice()
	var seen atomic.Int32
	s.mcp.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.mcp.URL+"/mcp", http.StatusTemporaryRedirect)
	})
	inner := other.mcp.Config.Handler
	other.mcp.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			seen.Add(1)
		}
		inner.ServeHTTP(w, r)
	})
	for _, tool := range []string{"whoami", "change"} {
		if got := h.calls(alice, tool); !got.Error {
			t.Errorf("got %+v", got)
		}
	}
	// The operator gives the name to another server: the account is not that one's.
	h.site = other
	h.write("true", nil)
	h.reload <- syscall.SIGHUP
	h.ready(2)
	if h.lacks(alice, "whoami") == nil {
		t.Error("her account is one at the other server")
	}
	if got := h.calls(alice, "whoami"); !got.Error || seen.Load() != 0 {
		t.Errorf("the other server has got %d tokens: %+v", seen.Load(), got)
	}
	h.spotless()
}

func TestPluginProvidesItsOwnNamesAlone(t *testing.T) {
	h := newHouse(t, newSite(t))
	h.start()
	h.ready(1)
	providers := h.oauth.ProvidersOf("mcp")
	at := h.site.issuer.URL
	for _, name := range []string{"github", "mcp", "other_x"} {
		err := providers.Provide(plugins.Provider{Name: name, URL: h.site.url(), Resource: h.site.url(), Issuer: at, AuthURL: at + "/a", TokenURL: at + "/t", ClientID: "c"})
		if err == nil {
			t.Errorf("it provides %s", name)
		}
	}
	providers.Withdraw("mcp_tracker")
	if h.oauth.Knows("mcp_tracker") {
		t.Error("it is still known")
	}
	if got := h.calls(alice, "whoami"); !got.Error {
		t.Errorf("got %+v", got)
	}
}

func TestServerThatIsTakenOutIsForgotten(t *testing.T) {
	h := newHouse(t, newSite(t))
	h.startsForAlice()
	h.file("mcp.json", map[string]any{"mcpServers": map[string]any{}})
	h.reload <- syscall.SIGHUP
	h.log.Wait(t, "the file of MCP servers was read again", 1)
	h.write("true", nil)
	h.reload <- syscall.SIGHUP // which is heard when the first was done
	h.ready(2)
	if got := h.calls(alice, "whoami"); got.Text != "you are alice-there" {
		t.Errorf("when it is back: %+v", got)
	}
}
