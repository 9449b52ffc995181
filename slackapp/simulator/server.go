package simulator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is one simulated Slack with one app in it. All methods may be called
// at the same time from several goroutines.
type Server struct {
	o    Options
	key  string // of /sim, of /play and of the page's address
	http *http.Server
	ln   net.Listener
	done chan struct{} // closed by Close
	wg   sync.WaitGroup

	mu      sync.Mutex // guards everything below, and the world
	closed  bool
	world   *World
	lastTS  int64 // microseconds
	lastID  int
	random  *mathrand.Rand
	log     eventLog
	calls   []Call
	tickets map[string]bool
	sockets map[int]*socket
	timers  map[*time.Timer]struct{}
	faults  []*Fault
	holds   map[string]*hold
	network socketFaults

	envelopes  []*Envelope
	unsettled  map[string]*Envelope // by envelope id
	waiting    []*Envelope          // for a socket
	ephemerals []Ephemeral
	files      map[string]*storedFile
	uploads    map[string]*storedFile
	triggers   map[string]*trigger
	responses  map[string]*responseURL
	views      map[string]View
	sessions   map[string]Session
	buckets    map[string]*bucket
}

// New makes a server that does not listen yet.
func New(o Options) *Server {
	o = o.withDefaults()
	seed := o.Seed
	if seed == 0 {
		seed = mathrand.Uint64()
	}
	s := &Server{
		o: o, key: randomHex(16), done: make(chan struct{}), world: o.World,
		random:  mathrand.New(mathrand.NewPCG(seed, seed)),
		tickets: map[string]bool{}, sockets: map[int]*socket{}, timers: map[*time.Timer]struct{}{},
		holds: map[string]*hold{}, unsettled: map[string]*Envelope{},
		files: map[string]*storedFile{}, uploads: map[string]*storedFile{},
		triggers: map[string]*trigger{}, responses: map[string]*responseURL{},
		views: map[string]View{}, sessions: map[string]Session{}, buckets: map[string]*bucket{},
	}
	s.log.changed = make(chan struct{})
	return s
}

// Start listens and returns. The server closes when ctx ends or Close is
// called.
func (s *Server) Start(ctx context.Context) error {
	host, _, err := net.SplitHostPort(s.o.Addr)
	if err != nil {
		return fmt.Errorf("listen simulator %q: %w", s.o.Addr, err)
	}
	if !isLoopback(host) {
		return fmt.Errorf("listen simulator %q: not a loopback address", s.o.Addr)
	}
	var config net.ListenConfig
	if s.ln, err = config.Listen(ctx, "tcp", s.o.Addr); err != nil {
		return fmt.Errorf("listen simulator: %w", err)
	}
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() {
		if err := s.http.Serve(s.ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.o.Log.Error("simulator stopped serving", "err", err)
		}
	})
	stop := context.AfterFunc(ctx, s.shut)
	s.wg.Go(func() { <-s.done; stop() })
	return nil
}

// Close stops listening, drops every socket and waits until all is quiet.
func (s *Server) Close() {
	s.shut()
	s.wg.Wait()
}

func (s *Server) shut() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	close(s.done)
	for t := range s.timers {
		t.Stop()
	}
	for _, c := range s.sockets {
		c.drop()
	}
	s.mu.Unlock()
	if s.http != nil {
		s.http.Close()
	}
}

// TB is what ForTest needs of *testing.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// ForTest is a started server that is closed at the end of the test.
func ForTest(t TB, o Options) *Server {
	t.Helper()
	s := New(o)
	if err := s.Start(context.Background()); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("GET /files/{id}/{name}", s.serveFile)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("POST /response/{id}", s.serveResponseURL)
	s.control(mux)
	if s.o.Play != nil {
		mux.Handle("/play/", s.keyed(s.o.Play.ServeHTTP))
	}
	if s.o.Page != nil {
		mux.Handle("/", s.o.Page)
	}
	outer := http.NewServeMux()
	outer.HandleFunc("GET /link/", s.serveSocket) // has its own check of the origin
	outer.HandleFunc("GET /link", s.serveSocket)
	outer.Handle("/", ownOrigin(mux))
	return s.tracked(loopbackHost(outer))
}

// tracked lets Close wait for every request.
func (s *Server) tracked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		closed := s.closed
		if !closed {
			s.wg.Add(1)
		}
		s.mu.Unlock()
		if closed {
			return
		}
		defer s.wg.Done()
		next.ServeHTTP(w, r)
	})
}

// URL is the server's base address, without a slash at the end.
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() }

// APIURL is the address of the Web API, with a slash at the end.
func (s *Server) APIURL() string { return s.URL() + "/api/" }

// Key opens /sim and /play, and stands in the page's address.
func (s *Server) Key() string { return s.key }

// PageURL is the address at which a browser finds Options.Page with the key.
func (s *Server) PageURL() string { return s.URL() + "/?key=" + s.key }

// BotToken is the token of Web API calls.
func (s *Server) BotToken() string { return s.o.BotToken }

// AppToken is the token of apps.connections.open.
func (s *Server) AppToken() string { return s.o.AppToken }

// Bot is the app under test.
func (s *Server) Bot() App { return s.world.Bot }

// after runs f with the lock held once d has passed, unless the server closes
// or the returned function is called (with the lock held) first.
func (s *Server) after(d time.Duration, f func()) (cancel func()) {
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, live := s.timers[t]; !live || s.closed {
			return
		}
		delete(s.timers, t)
		f()
	})
	s.timers[t] = struct{}{}
	return func() {
		t.Stop()
		delete(s.timers, t)
	}
}

// nextTS is the next Slack timestamp: the clock in microseconds, and always
// later than the one before.
func (s *Server) nextTS() string {
	us := s.o.Now().UnixMicro()
	s.lastTS = max(us, s.lastTS+1)
	return fmt.Sprintf("%d.%06d", s.lastTS/1e6, s.lastTS%1e6)
}

// nextID is a fresh id with a prefix, in the look of Slack's.
func (s *Server) nextID(prefix string) string {
	s.lastID++
	return fmt.Sprintf("%s%09X", prefix, s.lastID)
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func compareStrings(a, b string) int { return strings.Compare(a, b) }
