package simulator

import (
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Options say how a Server behaves. The zero value is Slack's own behaviour on
// a free loopback port.
type Options struct {
	// Addr to listen on; "127.0.0.1:0" when empty. Only loopback addresses are
	// taken.
	Addr string
	// World is who and what exists; DefaultWorld() when nil. The server takes
	// it over.
	World *World
	// BotToken and AppToken are what clients must send.
	// "xoxb-simulator" and "xapp-simulator" when empty; what runs longer than
	// a test should make up its own.
	BotToken, AppToken string
	// Scopes the bot token has; AllScopes when nil.
	Scopes []string
	// BotEvents are the event types subscribed to, as a manifest names them
	// ("message.channels"); all when nil.
	BotEvents []string

	// AckTimeout is how long an envelope may stay unacknowledged; 3 s.
	AckTimeout time.Duration
	// RetryScale multiplies the waits of 0, 60 and 300 s before the three
	// retries; 1 when zero.
	RetryScale float64
	// PingInterval between the server's pings on each socket; 5 s.
	PingInterval time.Duration
	// ConnectionTime after which a socket is refreshed; 1 h. With
	// debug_reconnects=true it is 360 s at most.
	ConnectionTime time.Duration
	// DisconnectGrace between a disconnect frame and the close; 10 s.
	DisconnectGrace time.Duration
	// MaxSockets open at once; 10.
	MaxSockets int
	// StreamLifetime of a chat stream; 300 s.
	StreamLifetime time.Duration
	// RateLimits: the per-minute tiers of the methods, and one post a second
	// and channel with a burst of ten, are enforced.
	RateLimits bool

	// Page is served at /; not found when nil.
	Page http.Handler
	// Play is served under /play/, to those alone who have the key; Page's when
	// nil.
	Play http.Handler
	// Now is the clock behind timestamps; time.Now when nil. Timers run on the
	// real clock.
	Now func() time.Time
	// Seed of the choice among sockets; random when zero.
	Seed uint64
	// Log gets faults of the simulator itself; discarded when nil.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	text := func(s *string, d string) {
		if *s == "" {
			*s = d
		}
	}
	span := func(s *time.Duration, d time.Duration) {
		if *s <= 0 {
			*s = d
		}
	}
	text(&o.Addr, "127.0.0.1:0")
	text(&o.BotToken, "xoxb-simulator")
	text(&o.AppToken, "xapp-simulator")
	span(&o.AckTimeout, 3*time.Second)
	span(&o.PingInterval, 5*time.Second)
	span(&o.ConnectionTime, time.Hour)
	span(&o.DisconnectGrace, 10*time.Second)
	span(&o.StreamLifetime, 300*time.Second)
	if o.World == nil {
		o.World = DefaultWorld()
	}
	if o.Scopes == nil {
		o.Scopes = AllScopes()
	}
	if o.RetryScale == 0 {
		o.RetryScale = 1
	}
	if o.MaxSockets == 0 {
		o.MaxSockets = 10
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return o
}
