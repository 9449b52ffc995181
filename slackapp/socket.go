package slackapp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// SocketOptions say how Slack is reached. Zero means the default.
type SocketOptions struct {
	AppToken string
	APIURL   string // ends in a slash; empty: Slack's own
	// Sockets to keep open; 2, so that one stands while Slack refreshes the
	// other. Those after the first are opened only while Slack counts fewer
	// than eight of the ten that an app may have.
	Sockets int
	// Silence after which a socket counts as dead: nothing was read from it,
	// pings included; 30 s.
	Silence time.Duration
	// HelloTimeout is how long a new socket may go without Slack's hello; 15 s.
	HelloTimeout time.Duration
	// CallTimeout bounds asking for a socket and its handshake, each; 15 s.
	CallTimeout time.Duration
	Log         *slog.Logger
}

// crowded is from how many sockets of the app on no second one is opened.
const crowded = 8

// Sockets are the Socket Mode connections of this process.
type Sockets struct {
	opts SocketOptions
	log  *slog.Logger
	pace *pace

	mu       sync.Mutex
	live     []*socket     // oldest first
	counted  int           // sockets of the app, as Slack last said
	changed  chan struct{} // closed at each change of the above
	connects int64
}

// NewSockets makes the sockets; Run opens them.
func NewSockets(o SocketOptions) *Sockets {
	o.Sockets = cmp.Or(max(o.Sockets, 0), 2)
	o.Silence = cmp.Or(o.Silence, 30*time.Second)
	o.HelloTimeout = cmp.Or(o.HelloTimeout, 15*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, 15*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Sockets{opts: o, log: o.Log, pace: newPace(), changed: make(chan struct{})}
}

// Run keeps the sockets open and hands what comes to take, which must return
// at once, until ctx ends. It ends by itself only with an *AuthError.
func (s *Sockets) Run(ctx context.Context, take func(Delivery) bool) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range s.opts.Sockets {
		group.Go(func() error {
			ready := func(context.Context) error { return nil }
			if i > 0 {
				ready = s.room
			}
			return s.pace.supervise(ctx, ready,
				func(ctx context.Context) ended { return s.connect(ctx, i, take) },
				func(e ended, retry time.Duration) {
					s.log.Info("socket lost", "socket", i, "up", e.up.Round(time.Millisecond), "retry", retry.Round(time.Millisecond), "err", scrubbed(e.err))
				})
		})
	}
	return group.Wait()
}

// Ready reports whether a socket stands on which Slack has said hello.
func (s *Sockets) Ready() bool {
	for _, st := range s.Status() {
		if st.Hello && st.Silent < s.opts.Silence {
			return true
		}
	}
	return false
}

// SocketStatus is the state of one open socket.
type SocketStatus struct {
	Socket int
	Hello  bool          // Slack has said hello
	Up     time.Duration // since it was opened
	Silent time.Duration // since anything was read, pings included
}

// Status lists the open sockets.
func (s *Sockets) Status() []SocketStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]SocketStatus, len(s.live))
	for i, k := range s.live {
		list[i] = SocketStatus{Socket: k.index, Hello: k.hello, Up: time.Since(k.opened), Silent: k.wire.silent()}
	}
	return list
}

// Connects counts the sockets opened so far.
func (s *Sockets) Connects() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connects
}

// Flush waits until the acknowledgements so far are written, or for limit.
func (s *Sockets) Flush(limit time.Duration) {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for s.unwritten() > 0 {
		select {
		case <-deadline.C:
			return
		case <-tick.C:
		}
	}
}

func (s *Sockets) unwritten() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.live {
		n += k.wire.unwritten.Load()
	}
	return n
}

// room waits until another socket stands and Slack counts few.
func (s *Sockets) room(ctx context.Context) error {
	for {
		s.mu.Lock()
		hello := false
		for _, k := range s.live {
			hello = hello || k.hello
		}
		ok, changed := hello && s.counted < crowded, s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change alters what mu guards and wakes those who wait for it.
func (s *Sockets) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// ack acknowledges on the socket that brought the envelope, or, when that is
// gone, on any other. With none, Slack delivers again.
func (s *Sockets) ack(k *socket, a acknowledgement) {
	if k.ack(a) {
		return
	}
	s.mu.Lock()
	others := append([]*socket(nil), s.live...)
	s.mu.Unlock()
	for _, other := range others {
		if other != k && other.ack(a) {
			return
		}
	}
	s.log.Debug("acknowledgement lost with its socket", "envelope", a.id)
}

var (
	errNoHello = errors.New("no hello from slack")
	errSilent  = errors.New("nothing read from slack, no ping either")
)
