package mailbox

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// openEmbedded starts the in-memory store, reached without a socket. Its keys
// live by the clock.
func (b *Box) openEmbedded() {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	o := clientOptions(&redis.Options{})
	o.ReadTimeout, o.WriteTimeout = -1, -1 // nothing can get lost on this way: each call's own bound is enough
	o.Dialer = func(context.Context, string, string) (net.Conn, error) {
		conn, err := m.Dial()
		if err != nil {
			return nil, err
		}
		return newEager(conn), nil
	}
	b.embed, b.rdb = m, redis.NewClient(o)
}

// SetClock sets the embedded store's clock, by which leases and waits end. From
// then on it stands still until it is set again. A server's clock is its own.
func (b *Box) SetClock(now time.Time) error {
	if b.embed == nil {
		return errors.New("set the store's clock: it is not an embedded one")
	}
	b.embed.SetTime(now)
	return nil
}

// empty reports whether the embedded store knows that there is nothing at a key:
// to ask it costs less than a command.
func (b *Box) empty(key string) bool { return b.embed != nil && !b.embed.Exists(key) }

// eager is one end of an in-memory pipe whose writes wait for nobody. The pipe
// itself holds nothing: a client that still writes its pipeline and a store
// that already answers would wait for each other.
type eager struct {
	net.Conn

	mu      sync.Mutex
	more    *sync.Cond
	pending []byte
	err     error // of a write that came too late to be told
}

func newEager(conn net.Conn) *eager {
	e := &eager{Conn: conn}
	e.more = sync.NewCond(&e.mu)
	go e.drain()
	return e
}

func (e *eager) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return 0, e.err
	}
	e.pending = append(e.pending, p...)
	e.more.Signal()
	return len(p), nil
}

// SetWriteDeadline does nothing: no write waits.
func (e *eager) SetWriteDeadline(time.Time) error { return nil }

// drain passes on what was written until the connection ends.
func (e *eager) drain() {
	for {
		e.mu.Lock()
		for len(e.pending) == 0 && e.err == nil {
			e.more.Wait()
		}
		p, err := e.pending, e.err
		e.pending = nil
		e.mu.Unlock()
		if err == nil {
			_, err = e.Conn.Write(p)
		}
		if err != nil {
			e.end(err)
			return
		}
	}
}

func (e *eager) Close() error {
	e.end(net.ErrClosed)
	return e.Conn.Close()
}

func (e *eager) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
	e.more.Signal()
}
