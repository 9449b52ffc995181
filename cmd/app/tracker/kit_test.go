package tracker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/cmd/app/apptest/testlog"
	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/plugins/mcp"
	"reeve/plugins/outbound"
	"reeve/plugins/settings"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

// portsVariable names the ports that this package's own main reaches on loopback.
const portsVariable = "TRACKER_PORTS"

func TestMain(m *testing.M) {
	apptest.Main(m, []plugins.Plugin{mcp.New(mcp.Options{Environ: os.Environ()})}, func(o *app.Options) {
		for text := range strings.SplitSeq(os.Getenv(portsVariable), ",") {
			port, _ := strconv.ParseUint(text, 10, 16)
			o.Outbound.Ports = append(o.Outbound.Ports, uint16(port))
		}
		o.Outbound.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
}

var (
	alice = chat.Person("T1", "UALICE")
	bob   = chat.Person("T1", "UBOB")
)

// house is Reeve, as far as it is needed.
type house struct {
	*testing.T
	site   *site
	others []*site // that can be reached too
	path   string
	public *httptest.Server
	space  *redistest.Space
	store  *shelf
	own    map[chat.Actor]*shelf // of each person
	log    *testlog.Journal
	oauth  *oauth.Service
	gate   *gate.Gate
	reload chan os.Signal
	stop   func()
	heard  strings.Builder // all results
}

func newHouse(t *testing.T, s *site) *house {
	t.Helper()
	h := &house{T: t, site: s, path: filepath.Join(t.TempDir(), "mcp.json"), space: redistest.Shared(t), store: &shelf{}, own: map[chat.Actor]*shelf{alice: {}, bob: {}}, log: &testlog.Journal{}}
	h.public = httptest.NewServer(nil)
	t.Cleanup(h.public.Close)
	h.write("true", nil)
	return h
}

// write makes the file and the list of tools.
func (h *house) write(oauth string, more map[string]any) {
	h.Helper()
	server := map[string]any{
		"type": "http", "url": h.site.url(), "oauth": json.RawMessage(oauth), "catalog": "tools.json",
		"tools": map[string]any{"whoami": map[string]any{"access": "read", "sends": false}},
	}
	maps.Copy(server, more)
	h.file("mcp.json", map[string]any{"mcpServers": map[string]any{"tracker": server}})
	tool := func(name string) map[string]any {
		return map[string]any{"name": name, "description": "Of the operator's list.", "inputSchema": map[string]any{"type": "object"}}
	}
	h.file("tools.json", map[string]any{"tools": []any{tool("whoami"), tool("change"), tool("headers")}})
}

func (h *house) file(name string, value any) {
	h.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(filepath.Join(filepath.Dir(h.path), name), data, 0o600)
	}
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) outbound() outbound.Options {
	return outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: h.ports(), Timeout: 10 * time.Second}
}

func (h *house) ports() []uint16 {
	list := h.site.ports()
	for _, other := range h.others {
		list = append(list, other.ports()...)
	}
	return list
}

// start is a process on the house's stores.
func (h *house) start() {
	h.Helper()
	ring, err := credentials.ParseKeys("1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		h.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.oauth, err = oauth.New(oauth.Options{
		Vault: credentials.NewVault(h.space.Client(), h.space.Prefix(), true, ring), PublicURL: h.public.URL, Outbound: h.outbound(), Log: log,
		Waits: h, Tick: 10 * time.Millisecond,
		Who: func(context.Context, chat.Actor) (string, string, error) { return "Somebody", "Acme", nil },
	})
	if err != nil {
		h.Fatal(err)
	}
	h.public.Config.Handler = h.oauth.Handler()
	h.gate = gate.New(gate.Options{
		Accounts: accounts{h.oauth}, Logger: log,
		Store: func(_ string, who chat.Actor) plugins.Store { return h.own[who] },
	})
	h.reload = make(chan os.Signal)
	extension, err := mcp.New(mcp.Options{Reload: h.reload, Retry: 10 * time.Millisecond}).Open(h.Context(), h.services(log))
	if err != nil {
		h.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var group sync.WaitGroup
	group.Go(func() { _ = extension.Run(ctx) })
	group.Go(func() { _ = h.oauth.Run(ctx) })
	h.stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	h.Cleanup(h.stop)
}

func (h *house) services(log *slog.Logger) plugins.Services {
	environ := []string{"MCP_CONFIG=" + h.path}
	return plugins.Services{
		Log: log, Now: time.Now, HTTP: h.outbound().Client,
		Settings: func(into any) error { return settings.Read("mcp", environ, into) },
		Offer: func(tools []plugins.Tool) error {
			if h.gate == nil {
				return nil
			}
			return h.gate.Set("mcp", tools, false)
		},
		Store:     func(chat.Actor) plugins.Store { return h.store },
		Providers: h.oauth.ProvidersOf("mcp"),
	}
}

// EndWait implements oauth.Waits.
func (h *house) EndWait(context.Context, chat.Conversation, chat.TurnID, string, chat.Ending) error {
	return nil
}

func (h *house) ready(n int) {
	h.Helper()
	h.log.Wait(h.T, "people can connect accounts at the MCP server", n)
}

func asked(who chat.Actor, tool string) plugins.Asked {
	return plugins.Asked{
		Run:  plugins.Run{Turn: "t_1", Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1.0"}, Actor: who},
		Call: chat.ToolCall{ID: "c1", Tool: "mcp_tracker__" + tool, Arguments: "{}"},
	}
}

// calls asks for a tool as the model of somebody's turn does.
func (h *house) calls(who chat.Actor, tool string) plugins.Result {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 20*time.Second)
	defer cancel()
	result := h.gate.Call(ctx, asked(who, tool))
	h.heard.WriteString(result.Text + result.DM)
	return result
}

// lacks is what somebody is asked to connect before a call.
func (h *house) lacks(who chat.Actor, tool string) *plugins.Connect {
	h.Helper()
	return h.gate.Weigh(h.Context(), asked(who, tool)).Connect
}

var shownCode = regexp.MustCompile(`<code>([0-9A-Z]{4}-[0-9A-Z]{4})</code>`)

// page is what somebody's browser is shown when he has opened his link and the
// authorization server has sent him back.
func (h *house) page(who chat.Actor, subject string, scopes ...string) (page string, link oauth.Link) {
	h.Helper()
	link, err := h.oauth.Begin(h.Context(), oauth.For{Actor: who, Provider: "mcp_tracker", Scopes: scopes})
	if err != nil {
		h.Fatal(err)
	}
	return h.site.browse(link.URL, subject), link
}

// browse opens a link, presses its button, lets the app in, and sees a page.
func (s *site) browse(link, subject string) string {
	s.t.Helper()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	do := func(method, address string) (string, http.Header) {
		request, _ := http.NewRequest(method, address, nil)
		if method == http.MethodPost {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		response, err := browser.Do(request)
		if err != nil {
			s.t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return string(text), response.Header
	}
	do(http.MethodGet, link)
	_, header := do(http.MethodPost, link)
	page, _ := do(http.MethodGet, s.allow(header.Get("Location"), subject))
	return page
}

// startsForAlice starts the plugin, and Alice connects an account.
func (h *house) startsForAlice() {
	h.Helper()
	h.start()
	h.ready(1)
	h.connects(alice, "alice-there")
}

// connects has somebody connect an account.
func (h *house) connects(who chat.Actor, subject string, scopes ...string) {
	h.Helper()
	page, link := h.page(who, subject, scopes...)
	shown := shownCode.FindStringSubmatch(page)
	if shown == nil {
		h.Fatalf("no code is shown: %s; the log:\n%s", page, h.log)
	}
	if sentence, done, err := h.oauth.Enter(h.Context(), link.Flow, who, shown[1]); err != nil || !done {
		h.Fatal(sentence, done, err)
	}
}

// spotless fails where a token's bytes have come to where they must not be.
func (h *house) spotless() {
	h.Helper()
	for name, text := range map[string]string{"results": h.heard.String(), "the log": h.log.String()} {
		if strings.Contains(text, canary) || strings.Contains(text, base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"x"}`))) {
			h.Errorf("%s hold a token:\n%s", name, text)
		}
	}
	for _, value := range slices.Concat(h.store.all(), h.own[alice].all(), h.own[bob].all()) {
		if strings.Contains(value, canary) {
			h.Errorf("the plugin's store holds a token: %s", value)
		}
	}
}

type accounts struct{ *oauth.Service }

func (a accounts) Look(ctx context.Context, who chat.Actor, provider string, scopes []string) (gate.Standing, error) {
	s, err := a.Service.Look(ctx, who, provider, scopes)
	return gate.Standing(s), err
}

func (a accounts) Open(ctx context.Context, use gate.Use) (*plugins.Account, func(), error) {
	return a.Service.Open(ctx, oauth.Use(use))
}

// shelf is a plugin's store.
type shelf struct {
	mu     sync.Mutex
	values map[string]string
	broken error
}

func (s *shelf) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

func (s *shelf) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, found := s.values[key]
	return []byte(value), found, s.broken
}

func (s *shelf) Set(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[key] = string(value)
	return nil
}

func (s *shelf) Add(ctx context.Context, key string, value []byte) (bool, error) {
	if _, found, _ := s.Get(ctx, key); found {
		return false, nil
	}
	return true, s.Set(ctx, key, value)
}

func (s *shelf) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *shelf) Keys(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.values)), nil
}

func (s *shelf) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.values))
}

// teeing reads a body into a text, and gives it back unread.
func teeing(body io.ReadCloser, into *strings.Builder) io.ReadCloser {
	text, _ := io.ReadAll(body)
	_ = body.Close()
	into.Write(text)
	return io.NopCloser(bytes.NewReader(text))
}
