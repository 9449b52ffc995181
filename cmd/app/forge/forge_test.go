// Package forge plays the plugin for GitHub with accounts as they are really
// kept and spent: a vault, the client of one call, and the App's own tokens.
package forge

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/plugins/github"
	"reeve/plugins/outbound"
	"reeve/plugins/settings"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

var alice = chat.Person("T1", "UALICE")

// site is a GitHub with one issue, acme/app#5, and one App.
type site struct {
	mu        sync.Mutex
	installed bool
	revoked   bool
	lose      bool     // the answer to a comment
	came      []string // method, path, and whose token
	comments  []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if strings.Count(who, ".") == 2 {
		who = "a proof"
	}
	at := r.Method + " " + r.URL.Path
	s.came = append(s.came, at+" "+who)
	switch {
	case at == "GET /repos/acme/app/installation" && who == "a proof":
		if !s.installed {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, `{"id":3}`)
	case at == "POST /app/installations/3/access_tokens" && who == "a proof":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":"app-token","expires_at":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
	case who != "alice-token" && who != "app-token" || who == "alice-token" && s.revoked:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"Bad credentials"}`)
	case at == "GET /user":
		fmt.Fprint(w, `{"id":1001,"login":"alice"}`)
	case at == "GET /repos/acme/app":
		fmt.Fprint(w, `{"full_name":"acme/app","private":true,"has_issues":true,"owner":{"login":"acme"},"permissions":{"pull":true,"push":true}}`)
	case at == "GET /repos/acme/app/issues/5":
		fmt.Fprintf(w, `{"number":5,"title":"Login fails","state":"open","comments":%d,"updated_at":"2026-03-02T08:00:00Z"}`, len(s.comments))
	case at == "GET /repos/acme/app/issues/5/comments":
		list := []map[string]any{}
		for _, body := range s.comments {
			list = append(list, map[string]any{"body": body, "html_url": "https://github.com/acme/app/issues/5#issuecomment-1"})
		}
		_ = json.NewEncoder(w).Encode(list)
	case at == "POST /repos/acme/app/issues/5/comments":
		var in struct{ Body string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.comments = append(s.comments, in.Body)
		if s.lose {
			connection, _, _ := w.(http.Hijacker).Hijack()
			_ = connection.Close()
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"html_url":"https://github.com/acme/app/issues/5#issuecomment-1"}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *site) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// writers are whose tokens have written comments.
func (s *site) writers() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, came := range s.came {
		if who, found := strings.CutPrefix(came, "POST /repos/acme/app/issues/5/comments "); found {
			all = append(all, who)
		}
	}
	return all
}

// place is a site, and a person who has connected her account there.
type place struct {
	*testing.T
	*site
	accounts *oauth.Service
	tools    map[string]plugins.Tool
	calls    int
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, site: &site{}, tools: map[string]plugins.Tool{}}
	server := httptest.NewServer(p.site)
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	n, _ := strconv.ParseUint(port, 10, 16)
	reach := outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: []uint16{uint16(n)}, Timeout: 10 * time.Second}

	ring, err := credentials.ParseKeys("1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	space := redistest.Shared(t)
	vault := credentials.NewVault(space.Client(), space.Prefix(), true, ring)
	owner := credentials.Owner{Actor: alice, Provider: "github"}
	permit, err := vault.Permit(t.Context(), owner, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err = vault.Put(t.Context(), owner, permit, credentials.Record{
		Access: credentials.NewSecret("alice-token"), Scopes: []string{"repo"}, AccountID: "1001", AccountName: "alice", Connected: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	provider := oauth.Builtin()["github"]
	provider.Hosts = []string{"127.0.0.1"}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	p.accounts, err = oauth.New(oauth.Options{
		Vault: vault, Providers: []oauth.Configured{{Provider: provider, ClientID: "client"}}, Outbound: reach, Log: log, Now: time.Now,
		Apps: map[string]oauth.App{"github": oauth.NewGitHubApp("4711", key, server.URL, reach, time.Now)},
	})
	if err != nil {
		t.Fatal(err)
	}
	extension, err := github.New().Open(t.Context(), plugins.Services{
		Log: log, Now: time.Now,
		Settings: func(into any) error { return settings.Read("github", []string{"GITHUB_API_URL=" + server.URL}, into) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range extension.Tools {
		p.tools[tool.Name] = tool
	}
	return p
}

// does makes a call with Alice's account, as the gate does.
func (p *place) does(name string, arguments any) plugins.Result {
	p.Helper()
	tool := p.tools[name]
	p.calls++
	call := plugins.Call{Run: plugins.Run{Turn: "t_1", Actor: alice, Visibility: chat.DM}, Key: fmt.Sprintf("t_1/%d", p.calls)}
	account, done, err := p.accounts.Open(p.Context(), oauth.Use{Actor: alice, Provider: tool.Provider, Scopes: tool.Scopes, Access: tool.Access, Key: call.Key})
	if err != nil {
		p.Fatal(err)
	}
	defer done()
	call.Account = account
	written, _ := json.Marshal(arguments)
	result, err := tool.Call(p.Context(), call, written)
	if err != nil {
		p.Fatal(err)
	}
	return result
}

var version = regexp.MustCompile(`(?m)^version: (\S+)$`)

// comments reads the issue, and comments on what was read.
func (p *place) commentsOnIt() plugins.Result {
	p.Helper()
	read := p.does("github_read_issue", map[string]any{"issue": "acme/app#5"})
	found := version.FindStringSubmatch(read.Text)
	if read.Error || found == nil {
		p.Fatalf("it was not read: %s", read.Text)
	}
	return p.does("github_comment", map[string]any{"issue": "acme/app#5", "body": "Thanks.", "version": found[1]})
}

// The App writes where it is installed, and else the person, and what is looked
// at is looked at with the person's account.
func TestAccountsAndTheApp(t *testing.T) {
	p := newPlace(t)
	if got := p.commentsOnIt(); got.Error || !strings.Contains(got.Text, "by the GitHub account alice itself") {
		t.Errorf("without the app: %+v", got)
	}
	p.set(func() { p.installed = true })
	if got := p.commentsOnIt(); got.Error || !strings.Contains(got.Text, "by the bot's GitHub App, on behalf of alice") {
		t.Errorf("with the app: %+v", got)
	}
	if got := strings.Join(p.writers(), " "); got != "alice-token app-token" {
		t.Errorf("written was with %q", got)
	}
	for _, came := range p.came {
		if strings.HasPrefix(came, "GET /repos/acme/app ") && !strings.HasSuffix(came, "alice-token") {
			t.Errorf("her right was looked for with another's: %s", came)
		}
	}
}

// An answer that is lost between the account's client and GitHub is one that
// nobody sends again.
func TestALostAnswer(t *testing.T) {
	p := newPlace(t)
	p.set(func() { p.lose = true })
	got := p.commentsOnIt()
	if got.Error || !strings.Contains(got.Text, "issuecomment-1") || len(p.writers()) != 1 {
		t.Errorf("%+v; written was with %q", got, p.writers())
	}
}

// An account that GitHub takes no more is told of, and nothing else is done.
func TestARevokedAccount(t *testing.T) {
	p := newPlace(t)
	p.set(func() { p.installed, p.revoked = true, true })
	got := p.does("github_create_issue", map[string]any{"repository": "acme/app", "title": "It fails", "body": "Always."})
	if !got.Error || !strings.Contains(got.Text, "disconnect GitHub in the bot's home tab") || len(p.writers()) > 0 {
		t.Errorf("%+v", got)
	}
}
