package mailbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options are what the store needs to know. Zero durations and numbers mean
// the shipped values.
type Options struct {
	// URL is redis://, rediss://, redis+sentinel://h1,h2/master or
	// redis+cluster://h1,h2. Empty: an embedded store in memory, which lives
	// and dies with this process.
	URL string
	// Prefix begins every key; "reeve" by default.
	Prefix string
	// LeaseTTL is how long a lease holds without a renewal; 10 s by default.
	LeaseTTL time.Duration
	// LeaseMargin is how long before its end a holder stops trusting it; 2 s.
	LeaseMargin time.Duration
	// CallTimeout bounds one call with its retries; 2 s. What a run writes
	// may take as long as its lease is trusted.
	CallTimeout time.Duration
	// Retention is how long a conversation that nobody touches is kept, and an
	// ended turn; 0: for good. Nothing open ever expires.
	Retention time.Duration
	// Untouched is the age at which what nobody has touched is not gone on
	// with by itself; 24 h.
	Untouched time.Duration
	// Count is told what happens, for metrics; may be nil. See the Count
	// constants.
	Count func(name, label string, n int)
	// MaxWaiting caps a conversation's waiting messages; 50.
	MaxWaiting int
	// MaxWaitingAuthor caps one author's of them; 10.
	MaxWaitingAuthor int
	// MaxUnread caps the unread messages for one's own open turn; 50.
	MaxUnread int
}

// messageKeyLife is how long a message is known: longer than any retry of
// Slack's comes.
const messageKeyLife = 8 * 24 * time.Hour

func (o Options) filled() Options {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	if o.Prefix == "" {
		o.Prefix = "reeve"
	}
	def(&o.LeaseTTL, 10*time.Second)
	def(&o.LeaseMargin, 2*time.Second)
	def(&o.CallTimeout, 2*time.Second)
	def(&o.Untouched, 24*time.Hour)
	if o.Count == nil {
		o.Count = func(string, string, int) {}
	}
	num(&o.MaxWaiting, 50)
	num(&o.MaxWaitingAuthor, 10)
	num(&o.MaxUnread, 50)
	return o
}

// Box is the mailbox: every durable step of a conversation goes through it. It
// is safe for concurrent use.
type Box struct {
	opts    Options
	keys    keys
	rdb     redis.UniversalClient
	scripts *scripts
	owner   string
	trips   atomic.Int64
	steady  steady
	tasks   chan struct{} // one has come due; see tasksDue
	embed   *miniredis.Miniredis
}

// Open connects to the store, or starts the embedded one. It does not wait for
// a server that cannot be reached: calls answer with errors until it can.
func Open(opts Options) (*Box, error) {
	opts = opts.filled()
	b := &Box{opts: opts, keys: keys{opts.Prefix}, owner: nonce(), scripts: newScripts(opts.URL != "", opts),
		tasks: make(chan struct{}, 1)}
	if opts.URL == "" {
		b.openEmbedded()
		return b, nil
	}
	var err error
	if b.rdb, err = connect(opts.URL); err != nil {
		return nil, err
	}
	b.steady.slow, b.steady.ttl = opts.slow(), opts.LeaseTTL
	b.rdb.AddHook(&b.steady)
	return b, nil
}

// Owner names this process in leases.
func (b *Box) Owner() string { return b.owner }

// Redis is the connection, for what keeps its own records beside the mailbox.
func (b *Box) Redis() redis.UniversalClient { return b.rdb }

// LeaseTTL is how long a lease holds without a renewal.
func (b *Box) LeaseTTL() time.Duration { return b.opts.LeaseTTL }

// Trusted is until when a holder may trust a lease that it asked for at start.
func (b *Box) Trusted(start time.Time) time.Time {
	return start.Add(b.opts.LeaseTTL - b.opts.LeaseMargin)
}

// runTimeout bounds a write of a run: while its lease is trusted there is
// nobody else who could go on, and a finished answer is worth the wait.
func (b *Box) runTimeout() time.Duration {
	return max(b.opts.CallTimeout, b.opts.LeaseTTL-b.opts.LeaseMargin)
}

// Trips counts the round trips of scripts so far.
func (b *Box) Trips() int64 { return b.trips.Load() }

// Ready answers nil when the store can be written.
func (b *Box) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	if err := b.rdb.Set(ctx, b.keys.once("ready:"+b.owner), "1", time.Minute).Err(); err != nil {
		return fmt.Errorf("write to redis: %w", err)
	}
	return nil
}

// Shutdown ends the connections, and the embedded store with all that it holds.
func (b *Box) Shutdown() error {
	err := b.rdb.Close()
	if b.embed != nil {
		b.embed.Close()
	}
	return err
}

// libraryLog keeps what the client library has to say of its connections at
// debug: calls answer with errors of their own.
type libraryLog struct{}

func (libraryLog) Printf(_ context.Context, format string, args ...any) {
	slog.Debug("redis client", "detail", fmt.Sprintf(format, args...))
}

// connect builds the client of a URL; nothing is sent yet.
func connect(raw string) (redis.UniversalClient, error) {
	redis.SetLogger(libraryLog{})
	switch {
	case strings.HasPrefix(raw, "redis+cluster://"):
		h, err := hostList(raw)
		if err != nil {
			return nil, err
		}
		base := clientOptions(&redis.Options{})
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: h.addrs, Username: h.user, Password: h.password,
			// A followed redirect repeats a write whose answer was lost, too.
			MaxRedirects: -1, ContextTimeoutEnabled: true, DialerRetries: base.DialerRetries,
			DialTimeout: base.DialTimeout, ReadTimeout: base.ReadTimeout, WriteTimeout: base.WriteTimeout,
			DisableIdentity: true, Dialer: base.Dialer,
		}), nil
	case strings.HasPrefix(raw, "redis+sentinel://"):
		h, err := hostList(raw)
		if err != nil {
			return nil, err
		}
		if h.path == "" {
			return nil, errors.New("redis address: redis+sentinel:// needs the primary's name at its end: redis+sentinel://h1,h2/NAME")
		}
		base := clientOptions(&redis.Options{})
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: h.path, SentinelAddrs: h.addrs, Username: h.user, Password: h.password,
			MaxRetries: base.MaxRetries, ContextTimeoutEnabled: true, DialerRetries: base.DialerRetries,
			DialTimeout: base.DialTimeout, ReadTimeout: base.ReadTimeout, WriteTimeout: base.WriteTimeout,
			DisableIdentity: true, Dialer: base.Dialer,
		}), nil
	default:
		o, err := redis.ParseURL(raw)
		if err != nil {
			return nil, fmt.Errorf("redis address: %w", masked(raw, err))
		}
		return redis.NewClient(clientOptions(o)), nil
	}
}

// clientOptions are for a client that writes: it never repeats a command on its
// own, since the default retries can write one push several times.
func clientOptions(o *redis.Options) *redis.Options {
	o.MaxRetries = -1
	o.ContextTimeoutEnabled = true
	o.DialTimeout = time.Second
	o.DialerRetries = 1
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.ReadTimeout = 2 * time.Second
	o.WriteTimeout = 2 * time.Second
	o.DisableIdentity = true
	o.Dialer = newWires().dialer(o)
	return o
}

// hosts is an address with several hosts, which net/url does not read.
type hosts struct {
	addrs          []string
	user, password string
	path           string
}

// hostList reads redis+KIND://[user:password@]h1,h2/path.
func hostList(raw string) (hosts, error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	var h hosts
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		var errUser, errPassword error
		h.user, errUser = url.PathUnescape(user)
		h.password, errPassword = url.PathUnescape(password)
		if errUser != nil || errPassword != nil {
			return hosts{}, errors.New("redis address: its user or password has a % that is no escape; write %25 for it")
		}
		rest = rest[at+1:]
	}
	list, path, _ := strings.Cut(rest, "/")
	h.path = strings.Trim(path, "/")
	for addr := range strings.SplitSeq(list, ",") {
		if addr == "" {
			return hosts{}, errors.New("redis address: an empty host in its list of hosts; it reads " + scheme + "://h1,h2")
		}
		if !strings.Contains(addr, ":") {
			addr += ":" + defaultPort(scheme)
		}
		h.addrs = append(h.addrs, addr)
	}
	return h, nil
}

func defaultPort(scheme string) string {
	if scheme == "redis+sentinel" {
		return "26379"
	}
	return "6379"
}

// masked keeps an address, which may hold a password, out of an error.
func masked(raw string, err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), raw, "(address)"))
}

// nonce is 16 hex digits that nobody can guess.
func nonce() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}
