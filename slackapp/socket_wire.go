package slackapp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// wire watches the connection under a socket, which slack-go keeps to itself:
// when something was last read, and how many acknowledgements are not written.
type wire struct {
	read atomic.Int64 // Unix nanoseconds
	// unwritten counts acknowledgements queued and not written. A pong counts
	// as one that was, so it may be low by one: then an acknowledgement can be
	// lost at the very end, and Slack delivers again.
	unwritten atomic.Int64
}

func newWire() *wire {
	w := &wire{}
	w.read.Store(time.Now().UnixNano())
	return w
}

// silent is how long nothing was read.
func (w *wire) silent() time.Duration {
	return time.Since(time.Unix(0, w.read.Load()))
}

func (w *wire) written() {
	for {
		n := w.unwritten.Load()
		if n <= 0 || w.unwritten.CompareAndSwap(n, n-1) {
			return
		}
	}
}

func (w *wire) dialer(timeout time.Duration) *websocket.Dialer {
	plain := &net.Dialer{Timeout: timeout}
	return &websocket.Dialer{
		Proxy:            http.ProxyFromEnvironment,
		HandshakeTimeout: timeout,
		// Slack drops continuation frames: an answer must fit one.
		WriteBufferSize: 32 << 10,
		NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := plain.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return watchedConn{Conn: conn, wire: w}, nil
		},
	}
}

type watchedConn struct {
	net.Conn
	wire *wire
}

func (c watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.wire.read.Store(time.Now().UnixNano())
	}
	return n, err
}

func (c watchedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wire.written()
	return n, err
}

var errOneOpening = errors.New("one client opens one socket")

// oneOpening lets one request for a socket through, and no second.
type oneOpening struct {
	client *http.Client
	used   atomic.Bool
}

func (o *oneOpening) Do(req *http.Request) (*http.Response, error) {
	if path.Base(req.URL.Path) == "apps.connections.open" && o.used.Swap(true) {
		return nil, errOneOpening
	}
	return o.client.Do(req)
}

func httpClient(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout}
}
