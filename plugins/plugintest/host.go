// Package plugintest tests plugins without Slack, Redis or a model.
//
// Suite holds a plugin to what every plugin must keep. New opens one with the
// services of a host that a test can look into, and plays people with it:
//
//	host := plugintest.New(t, echo.New())
//	turn := host.As(plugintest.Alice, "Repeat hello, please.")
//	result := turn.Calls("echo", `{"text":"hello"}`)
//	turn.Steers(plugintest.Bob, "and salute me too")
//	turn.Ends(plugins.Done)
//
// It knows no gate: whether a call is made at all is decided by what its tool
// declares, and not by the plugin.
package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/settings"
	"reeve/runtime/chat"
)

// People of one workspace, and the Alice of another one.
var (
	Alice     = chat.Person("T0HOME", "U0ALICE")
	Bob       = chat.Person("T0HOME", "U0BOB")
	Carol     = chat.Person("T0HOME", "U0CAROL")
	AwayAlice = chat.Person("T0AWAY", "U0ALICE")
)

// Start is when a host's clock begins.
var Start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// Host is a plugin that is open, and all that surrounds it. It is safe for
// concurrent use.
type Host struct {
	t       testing.TB
	plugin  plugins.Plugin
	options options
	web     *web
	offered chan struct{} // holds one when tools were offered

	mu        sync.Mutex
	extension plugins.Extension
	now       time.Time
	log       bytes.Buffer
	stores    map[chat.Actor]*Store
	away      error // of every store, when not nil
	misses    int   // uses of a store that was away
	begun     []plugins.Due
	turns     int
}

// Option changes a host.
type Option func(*options)

type options struct {
	environ  []string
	handler  http.Handler
	examples []example
	until    func(plugins.Extension) bool
	slack    plugins.Slack
	accounts func(chat.Actor) (id, name string)
	apps     []string
	calls    int
	patience time.Duration
	now      time.Time

	providerHosts []string
	due           func(plugins.Due) error
}

// Env sets the environment variables that the plugin's settings come from, as
// NAME=VALUE.
func Env(variables ...string) Option {
	return func(o *options) { o.environ = append(o.environ, variables...) }
}

// Serve answers what the plugin asks of the web through its Services, whichever
// host it asks. Without it nothing answers.
func Serve(handler http.Handler) Option { return func(o *options) { o.handler = handler } }

// At starts the clock at a moment, instead of at Start.
func At(now time.Time) Option { return func(o *options) { o.now = now } }

// New opens a plugin, and ends the test where it cannot be opened.
func New(t testing.TB, plugin plugins.Plugin, change ...Option) *Host {
	t.Helper()
	h := newHost(t, plugin, change)
	t.Cleanup(h.web.close)
	if err := h.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func newHost(t testing.TB, plugin plugins.Plugin, change []Option) *Host {
	h := &Host{
		t: t, plugin: plugin, stores: map[chat.Actor]*Store{}, offered: make(chan struct{}, 1),
		options: options{calls: 200, patience: 5 * time.Second, slack: noisy{}, accounts: anyAccount, now: Start},
	}
	for _, f := range change {
		f(&h.options)
	}
	h.now, h.web = h.options.now, &web{handler: h.options.handler}
	return h
}

// open does what a host does at start. A panic is an error here too.
func (h *Host) open(ctx context.Context) (err error) {
	name := h.plugin.Name()
	defer func() {
		if fault := recover(); fault != nil {
			err = Fault{What: fmt.Sprintf("plugin %s: it panicked when it was opened: %v", name, fault), at: panicked()}
		}
	}()
	if err := plugins.CheckNames([]plugins.Plugin{h.plugin}); err != nil {
		return err
	}
	extension, err := h.plugin.Open(ctx, h.Services())
	if err != nil {
		return fmt.Errorf("plugin %s: %w", name, err)
	}
	if err := extension.Check(name); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.extension = extension
	return nil
}

// Services are what the plugin is opened with.
func (h *Host) Services() plugins.Services {
	name := h.plugin.Name()
	return plugins.Services{
		Log:      slog.New(slog.NewTextHandler(writer{h}, &slog.HandlerOptions{Level: slog.LevelDebug})).With("plugin", name),
		Now:      h.Now,
		Settings: func(into any) error { return settings.Read(name, h.options.environ, into) },
		HTTP:     h.web.client,
		Offer:    h.offer,
		Store:    func(person chat.Actor) plugins.Store { return h.storeOf(person) },
		Start:    h.start,
	}
}

// Refused is the error with which the plugin does not open, for tests of wrong
// settings. A plugin that opens ends the test.
func Refused(t testing.TB, plugin plugins.Plugin, change ...Option) error {
	t.Helper()
	h := newHost(t, plugin, change)
	defer h.web.close()
	err := h.open(t.Context())
	if err == nil {
		t.Fatalf("plugin %s was opened", plugin.Name())
	}
	return err
}

func (h *Host) offer(tools []plugins.Tool) error {
	if err := plugins.CheckTools(tools); err != nil {
		return fmt.Errorf("plugin %s: %w", h.plugin.Name(), err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.extension.Tools = slices.Clone(tools)
	select {
	case h.offered <- struct{}{}:
	default:
	}
	return nil
}

// Extension is what the plugin adds now: Offer changes its tools.
func (h *Host) Extension() plugins.Extension {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.extension
}

// Now is the host's clock. It stands still.
func (h *Host) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Advance sets the clock forward.
func (h *Host) Advance(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

// Log is everything that the plugin has logged, debug included.
func (h *Host) Log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.String()
}

// Store is what the plugin keeps for a person. With Extension.SharedStore
// everybody's is the same.
func (h *Host) Store(actor chat.Actor) *Store {
	if h.Extension().SharedStore {
		actor = chat.Actor{}
	}
	return h.storeOf(actor)
}

func (h *Host) storeOf(actor chat.Actor) *Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stores[actor] == nil {
		h.stores[actor] = &Store{host: h, values: map[string][]byte{}}
	}
	return h.stores[actor]
}

// StoreAway makes every use of a store fail from now on, as it does when the
// network is away; nil ends that.
func (h *Host) StoreAway(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = err
}

func (h *Host) missed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.misses
}

// writer takes the plugin's log.
type writer struct{ host *Host }

func (w writer) Write(p []byte) (int, error) {
	w.host.mu.Lock()
	defer w.host.mu.Unlock()
	return w.host.log.Write(p)
}
