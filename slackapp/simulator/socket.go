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
