package mailbox

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// wires are the connections of one client. A firewall, or a machine that is
// gone, can lose all of them without a word, and each would cost whoever is
// handed it next a timeout of his own. So the first that stays silent takes
// along the idle ones that have not been heard since.
type wires struct {
	start time.Time // other times are counted from here
	mu    sync.Mutex
	all   map[*wire]bool
}

func newWires() *wires { return &wires{start: time.Now(), all: map[*wire]bool{}} }

// dialer makes connections that are watched.
func (w *wires) dialer(o *redis.Options) func(context.Context, string, string) (net.Conn, error) {
	dial := redis.NewDialer(o)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		one := &wire{Conn: conn, of: w, addr: addr}
		one.heard.Store(w.now())
		w.mu.Lock()
		w.all[one] = true
		w.mu.Unlock()
		if inner, ok := conn.(syscall.Conn); ok {
			return plainWire{one, inner}, nil
		}
		return one, nil
	}
}

func (w *wires) now() int64 { return int64(time.Since(w.start)) }

// silent drops the idle connections to an address that were last heard before
// since. Those that wait for an answer have a timeout under way.
func (w *wires) silent(addr string, since int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		if heard := one.heard.Load(); one.addr == addr && heard >= one.wrote.Load() && heard < since {
			_ = one.Conn.Close() // who has it next is told, and takes another
		}
	}
}

// wire is one connection, with when it was last written to and heard.
type wire struct {
	net.Conn
	of           *wires
	addr         string
	wrote, heard atomic.Int64
}

func (c *wire) Write(b []byte) (int, error) {
	c.wrote.Store(c.of.now())
	return c.Conn.Write(b)
}

func (c *wire) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(c.of.now())
	} else if wrote := c.wrote.Load(); errors.Is(err, os.ErrDeadlineExceeded) && wrote > c.heard.Load() {
		c.of.silent(c.addr, wrote)
	}
	return n, err
}

func (c *wire) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// plainWire lets the client look, before it uses a connection, whether it is
// closed; one with TLS cannot be looked at so.
type plainWire struct {
	*wire
	inner syscall.Conn
}

func (c plainWire) SyscallConn() (syscall.RawConn, error) { return c.inner.SyscallConn() }
