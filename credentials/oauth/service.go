package oauth

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/runtime/chat"
)

// Waits are the turns that wait for an account.
type Waits interface {
	// EndWait ends a wait. That it has ended already is no error.
	EndWait(ctx context.Context, conversation chat.Conversation, turn chat.TurnID, wait string, ending chat.Ending) error
}

// Options are what a service is made of.
type Options struct {
	Vault     *credentials.Vault
	Providers []Configured
	// PublicURL is how browsers reach Handler; empty: the device flow is used.
	PublicURL string
	// Timeout is for how long somebody may connect an account after he was asked.
	Timeout time.Duration
	Waits   Waits
	// Tell sends a person a direct message, durably before it returns. A part with
	// the ID of an earlier one is that one.
	Tell func(ctx context.Context, person chat.Actor, part chat.Part) error
	// Email is the address in a person's Slack profile.
	Email func(ctx context.Context, person chat.Actor) (string, error)
	// Who is how a person and his workspace are called, for showing. Empty: it is
	// not known.
	Who func(ctx context.Context, person chat.Actor) (name, workspace string, err error)
	// Audit keeps a record of a connection, or of its end, for good; nil: none is
	// kept.
	Audit func(ctx context.Context, record plugins.AuditRecord) error
	// Apps are what the bot itself is at a provider, by the provider's name.
	Apps map[string]App
	Log  *slog.Logger
	Now  func() time.Time
	// Tick is how often it is looked for what is due: 2 s.
	Tick time.Duration
	// Outbound is for tests: networks and ports that are reached beside public
	// ones. With networks in it http is spoken with this machine.
	Outbound outbound.Options
}

// Service connects people's accounts, keeps their tokens fresh and spends them.
// It is safe for concurrent use, and for several processes at once.
type Service struct {
	o         Options
	mu        sync.RWMutex
	providers map[string]Configured
	fixed     map[string]bool // those of the options
	wire      *wire
	api       *apiClient
	limits    *limits
	wake      chan struct{}
}

// New makes a service. The error says, a line each, which providers are wrong.
func New(options Options) (*Service, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Tick == 0 {
		options.Tick = 2 * time.Second
	}
	if options.Timeout == 0 {
		options.Timeout = time.Hour
	}
	s := &Service{
		o: options, providers: map[string]Configured{}, fixed: map[string]bool{}, wire: newWire(options.Outbound, options.Now), api: newAPIClient(options.Outbound),
		limits: newLimits(options.Now), wake: make(chan struct{}, 1),
	}
	loopback := len(options.Outbound.Allow) > 0
	var wrong []error
	if options.PublicURL != "" && !safeURL(options.PublicURL, true) {
		wrong = append(wrong, errors.New("PUBLIC_URL: want an https URL, or an http URL of this machine"))
	}
	for _, c := range options.Providers {
		c.Provider = c.withDefaults()
		if err := c.check(loopback); err != nil {
			wrong = append(wrong, err)
			continue
		}
		s.providers[c.Name], s.fixed[c.Name] = c, true
	}
	return s, errors.Join(wrong...)
}

// Knows reports whether people can connect accounts at a provider.
func (s *Service) Knows(provider string) bool {
	c, ok := s.provider(provider)
	return ok && (s.o.PublicURL != "" || c.DeviceURL != "")
}

// Title is what people call a provider.
func (s *Service) Title(provider string) string {
	if c, ok := s.provider(provider); ok {
		return c.Title
	}
	return provider
}

// secret is 128 bits that nobody can guess, fit for a URL.
func secret() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// codeLetters are those that nobody takes for one another.
var codeLetters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newCode is a code of 8 characters.
func newCode() string {
	var raw [5]byte
	_, _ = rand.Read(raw[:])
	return codeLetters.EncodeToString(raw[:])
}

// readCode is a code as somebody may have typed it.
func readCode(typed string) string {
	typed = strings.Map(func(r rune) rune {
		switch {
		case r == 'O':
			return '0'
		case r == 'I', r == 'L':
			return '1'
		case r <= ' ', r == '-':
			return -1
		}
		return r
	}, strings.ToUpper(strings.TrimSpace(typed)))
	return typed
}

func showCode(code string) string { return code[:4] + "-" + code[4:] }
