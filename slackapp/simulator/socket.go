package simulator

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one open Socket Mode connection. Its fields but conn and id are
// guarded by the server's lock.
type socket struct {
	s    *Server
	id   int
	conn *websocket.Conn
	wake chan struct{} // room for one: there is something to write
	gone chan struct{} // closed when the reader ends

	queue    [][]byte
	closing  bool // a close frame follows the queue
	draining bool // told to go; gets payloads only when no other is there
	dead     bool // half open: nothing arrives either way
	cancel   func()
}

// writeLimit bounds one write to a client that does not read.
const writeLimit = 5 * time.Second

var upgrader = websocket.Upgrader{CheckOrigin: func(r *http.Request) bool {
	// slack-go sends Slack's own origin, the Node client none. A page in a
	// browser has no business here.
	origin := r.Header.Get("Origin")
	return origin == "" || origin == "https://api.slack.com"
}}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	good := s.tickets[ticket] && !s.closed
	delete(s.tickets, ticket)
	refused := s.network.takeRefusal()
	s.mu.Unlock()
	switch {
	case refused:
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
		return
	case !good:
		http.Error(w, "bad ticket", http.StatusForbidden)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // answered by the upgrader
	}
	s.runSocket(conn, r.URL.Query().Get("debug_reconnects") == "true")
}

// runSocket serves a connection until it ends.
func (s *Server) runSocket(conn *websocket.Conn, debug bool) {
	c := &socket{s: s, conn: conn, wake: make(chan struct{}, 1), gone: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		conn.Close()
		return
	}
	s.wg.Add(2)
	s.network.opened++
	c.id = s.network.opened
	tooMany := len(s.sockets) >= s.o.MaxSockets || s.network.takeTooMany()
	s.sockets[c.id] = c
	if tooMany {
		c.send(disconnectFrame("too_many_websockets"))
		c.shutdown()
	} else {
		s.greet(c, debug)
	}
	s.mu.Unlock()

	go func() {
		defer s.wg.Done()
		c.write()
	}()
	defer s.wg.Done()
	reason := c.read()
	conn.Close()
	close(c.gone)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, c.id)
	if c.cancel != nil {
		c.cancel()
	}
	if !tooMany {
		s.record(Event{Kind: Disconnected, Socket: c.id, Reason: reason})
	}
}

// greet sends hello, and what waited for a socket behind it.
func (s *Server) greet(c *socket, debug bool) {
	lifetime := s.o.ConnectionTime
	if debug {
		lifetime = min(lifetime, 360*time.Second)
	}
	hello, _ := json.Marshal(map[string]any{
		"type": "hello", "num_connections": len(s.sockets),
		"connection_info": map[string]any{"app_id": s.world.Bot.AppID},
		"debug_info": map[string]any{
			"host": "simulator", "started": s.o.Now().UTC().Format("2006-01-02 15:04:05.000"), "build_number": 1,
			"approximate_connection_time": int(lifetime.Seconds()),
		},
	})
	c.send(hello)
	s.record(Event{Kind: Connected, Socket: c.id})
	c.cancel = s.after(lifetime, func() { s.disconnect(c, "warning") })
	s.flush()
}

func disconnectFrame(reason string) []byte {
	raw, _ := json.Marshal(map[string]any{
		"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "simulator"},
	})
	return raw
}

// pickSocket is any open socket; one that was told to go only when there is no
// other. The lock is held.
func (s *Server) pickSocket() *socket {
	var fresh, draining []*socket
	for _, c := range s.sockets {
		switch {
		case c.closing:
		case c.draining:
			draining = append(draining, c)
		default:
			fresh = append(fresh, c)
		}
	}
	if len(fresh) == 0 {
		fresh = draining
	}
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b *socket) int { return a.id - b.id }) // so that Seed decides
	return fresh[s.random.IntN(len(fresh))]
}

// send queues a text frame. The lock is held.
func (c *socket) send(frame []byte) {
	c.queue = append(c.queue, frame)
	c.nudge()
}

// shutdown closes the socket in the proper way once its queue is written.
func (c *socket) shutdown() {
	c.closing = true
	c.nudge()
}

// drop cuts the connection without a close frame.
func (c *socket) drop() { c.conn.NetConn().Close() }

func (c *socket) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write sends frames and pings until the socket is gone.
func (c *socket) write() {
	ping := time.NewTicker(c.s.o.PingInterval)
	defer ping.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-ping.C:
			if c.silent() {
				continue
			}
			_ = c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit))
		case <-c.wake:
			if !c.writeQueue() {
				c.drop()
				return
			}
		}
	}
}

// silent: the socket neither sends nor answers pings.
func (c *socket) silent() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.dead || c.s.network.noPings
}

func (c *socket) writeQueue() bool {
	c.s.mu.Lock()
	frames, closing, dead := c.queue, c.closing, c.dead
	c.queue = nil
	c.s.mu.Unlock()
	if dead {
		return !closing
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	for _, f := range frames {
		if c.conn.WriteMessage(websocket.TextMessage, f) != nil {
			return false
		}
	}
	if closing {
		text := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		_ = c.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(writeLimit))
		// The answer is waited for shortly; then the reader ends.
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	}
	return true
}

// read takes acknowledgements until the connection ends, and says how it did.
func (c *socket) read() (reason string) {
	c.conn.SetReadLimit(maxBody)
	c.conn.SetPingHandler(func(data string) error {
		if c.silent() {
			return nil
		}
		_ = c.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeLimit))
		return nil
	})
	for {
		_, raw, err := c.conn.ReadMessage()
		if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived) {
			return "closed"
		}
		if err != nil {
			return "dropped"
		}
		// Slack drops larger responses without a word, and what is no ack.
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if len(raw) >= maxAck || json.Unmarshal(raw, &ack) != nil {
			continue
		}
		c.s.mu.Lock()
		if !c.dead {
			c.s.acked(ack.ID, ack.Payload, c.id)
		}
		c.s.mu.Unlock()
	}
}

// maxAck is the size in bytes from which Slack ignores an acknowledgement.
const maxAck = 20 << 10
