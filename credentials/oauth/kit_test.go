package oauth_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.NoSync()) }

var (
	alice   = chat.Person("T1", "UALICE")
	mallory = chat.Person("T1", "UMALLORY")
	thread  = chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000100"}
)

func keys(t testing.TB) *credentials.Keyring {
	t.Helper()
	ring, err := credentials.ParseKeys("1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// clock is the machine's, moved on by hand.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// ended is a wait that was ended.
type ended struct {
	turn chat.TurnID
	wait string
	how  chat.How
	by   *chat.Actor
}

// told is a part that somebody was told.
type told struct {
	person chat.Actor
	part   chat.Part
}

// kit is a service with everything around it.
type kit struct {
	*testing.T
	*oauth.Service
	vault  *credentials.Vault
	clock  *clock
	public *httptest.Server
	log    *bytes.Buffer
	redis  redis.UniversalClient
	prefix string
	space  *redistest.Space
	audit  *credentials.Audit

	mu      sync.Mutex
	ended   []ended
	told    []told
	deaf    error // what Tell answers
	emails  map[chat.Actor]string
	logging sync.Mutex
}

// EndWait implements oauth.Waits.
func (k *kit) EndWait(_ context.Context, _ chat.Conversation, turn chat.TurnID, wait string, ending chat.Ending) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = append(k.ended, ended{turn, wait, ending.How, ending.By})
	return nil
}

func (k *kit) tell(_ context.Context, person chat.Actor, part chat.Part) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.deaf != nil {
		return k.deaf
	}
	for _, t := range k.told {
		if t.part.ID == part.ID {
			return nil
		}
	}
	k.told = append(k.told, told{person, part})
	return nil
}

func (k *kit) endings() []ended {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]ended{}, k.ended...)
}

func (k *kit) tellings() []told {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]told{}, k.told...)
}

// Write is the log.
func (k *kit) Write(p []byte) (int, error) {
	k.logging.Lock()
	defer k.logging.Unlock()
	return k.log.Write(p)
}

// option changes a kit before its service is made.
type option func(*oauth.Options)

func withoutURL(o *oauth.Options) { o.PublicURL = "" }

// newKit makes a service for providers on loopback.
func newKit(t *testing.T, providers []oauth.Configured, options ...option) *kit {
	t.Helper()
	space := redistest.Shared(t)
	k := &kit{
		T: t, space: space, clock: &clock{}, log: &bytes.Buffer{}, redis: space.Client(), prefix: space.Prefix(),
		emails: map[chat.Actor]string{alice: "alice@example.com", mallory: "mallory@example.com"},
	}
	k.vault = credentials.NewVault(k.redis, k.prefix, true, keys(t))
	k.audit = credentials.NewAudit(k.redis, k.prefix, true, 24*time.Hour)
	k.public = httptest.NewUnstartedServer(nil)
	k.Service = k.another(providers, options...)
	k.public.Config.Handler = k.Handler()
	k.public.Start()
	t.Cleanup(k.public.Close)
	return k
}

// another is one more process on the same store.
func (k *kit) another(providers []oauth.Configured, options ...option) *oauth.Service {
	k.Helper()
	o := oauth.Options{
		Vault: k.vault, Providers: providers, PublicURL: "http://" + k.public.Listener.Addr().String(), Timeout: time.Hour,
		Waits: k, Tell: k.tell, Audit: k.audit.Append, Now: k.clock.now, Tick: 10 * time.Millisecond, Outbound: loopback(),
		Log: slog.New(slog.NewTextHandler(k, nil)),
		Email: func(_ context.Context, who chat.Actor) (string, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.emails[who] == "" {
				return "", errors.New("no profile")
			}
			return k.emails[who], nil
		},
		Who: func(_ context.Context, who chat.Actor) (string, string, error) {
			if who == mallory {
				return `Mallory <img src=x>`, "Acme & Sons", nil
			}
			return "Alice", "Acme & Sons", nil
		},
	}
	for _, change := range options {
		change(&o)
	}
	s, err := oauth.New(o)
	if err != nil {
		k.Fatal(err)
	}
	return s
}

var (
	portsMu sync.Mutex
	ports   []uint16
)

// loopback reaches the servers of tests.
func loopback() outbound.Options {
	portsMu.Lock()
	defer portsMu.Unlock()
	return outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: append([]uint16{}, ports...), Timeout: 10 * time.Second}
}

// serve starts a server that may be reached.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	n, _ := strconv.Atoi(port)
	portsMu.Lock()
	defer portsMu.Unlock()
	ports = append(ports, uint16(n))
	return s.URL
}

func (k *kit) begin(who chat.Actor, provider string, scopes ...string) oauth.Link {
	k.Helper()
	link, err := k.Begin(k.Context(), oauth.For{Actor: who, Provider: provider, Scopes: scopes, Conversation: thread, Turn: "t_1", Wait: "7"})
	if err != nil {
		k.Fatal(err)
	}
	return link
}

func (k *kit) record(who chat.Actor, provider string) (credentials.Record, bool) {
	k.Helper()
	r, err := k.vault.Get(k.Context(), credentials.Owner{Actor: who, Provider: provider})
	if errors.Is(err, credentials.ErrNone) {
		return r, false
	}
	if err != nil {
		k.Fatal(err)
	}
	return r, true
}

func (k *kit) wantAudited(want ...string) { k.Helper(); k.wantAuditedOf(alice, want...) }

// wantAuditedOf wants these records of somebody's, each "KIND RULE", oldest first; those
// that were refused begin with "!".
func (k *kit) wantAuditedOf(who chat.Actor, want ...string) {
	k.Helper()
	var got []string
	err := k.audit.Read(k.Context(), credentials.AuditFilter{Person: who}, func(r plugins.AuditRecord) bool {
		line := string(r.Kind) + " " + r.Rule
		if r.Decision != "allowed" {
			line = "!" + line
		}
		got = append(got, line)
		if r.Principal != who || r.Tool != "" || r.Arguments != "" || r.Provider == "" {
			k.Errorf("%+v", r)
		}
		return true
	})
	slices.Reverse(got)
	if err != nil || !slices.Equal(got, want) {
		k.Errorf("audited %q, %v\nwant    %q", got, err, want)
	}
}

// browser is one person's, with his cookies.
type browser struct {
	t testing.TB
	*http.Client
}

func newBrowser(t testing.TB) *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{t, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// page is what a browser sees.
type page struct {
	status int
	header http.Header
	text   string
}

func (b *browser) do(request *http.Request) page {
	b.t.Helper()
	response, err := b.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{response.StatusCode, response.Header, string(text)}
}

func (b *browser) get(address string) page {
	b.t.Helper()
	request, err := http.NewRequest("GET", address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(request)
}

func (b *browser) post(address string, form url.Values) page {
	b.t.Helper()
	request, err := http.NewRequest("POST", address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(request)
}

// follow opens a link and presses its button: where the provider is then asked.
func (b *browser) follow(link oauth.Link) string {
	b.t.Helper()
	if p := b.get(link.URL); p.status != http.StatusOK {
		b.t.Fatalf("the link: %d %s", p.status, p.text)
	}
	p := b.post(link.URL, nil)
	if p.status != http.StatusSeeOther {
		b.t.Fatalf("the button: %d %s", p.status, p.text)
	}
	return p.header.Get("Location")
}

var shownCode = regexp.MustCompile(`<code>([0-9A-Z]{4}-[0-9A-Z]{4})</code>`)

// code is what a page shows.
func (p page) code(t testing.TB) string {
	t.Helper()
	found := shownCode.FindStringSubmatch(p.text)
	if found == nil {
		t.Fatalf("no code: %d %s", p.status, p.text)
	}
	return found[1]
}

// query is a parameter of a URL.
func query(t testing.TB, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}
