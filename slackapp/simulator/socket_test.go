package simulator_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"reeve/slackapp/simulator"
)

// frame is what a client sees of anything on the socket.
type frame struct {
	Type      string          `json:"type"`
	Reason    string          `json:"reason"`
	ID        string          `json:"envelope_id"`
	Attempt   int             `json:"retry_attempt"`
	Connected int             `json:"num_connections"`
	Payload   json.RawMessage `json:"payload"`
	Debug     struct {
		Time int `json:"approximate_connection_time"`
	} `json:"debug_info"`
}

func (f frame) event(t *testing.T) map[string]any {
	t.Helper()
	var p struct {
		Event map[string]any `json:"event"`
	}
	check(t, json.Unmarshal(f.Payload, &p))
	return p.Event
}

// peer is a bare socket.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
}

func open(t *testing.T, s *simulator.Server) string {
	t.Helper()
	var out struct {
		OK  bool
		URL string
	}
	call(t, s, "apps.connections.open", url.Values{"token": {s.AppToken()}}, &out)
	if !out.OK {
		t.Fatal("no socket address")
	}
	return out.URL
}

func dial(t *testing.T, s *simulator.Server) *peer {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.DialContext(within(t), open(t, s), http.Header{"Origin": {"https://api.slack.com"}})
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	check(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	return &peer{t, conn}
}

func (p *peer) next() frame {
	p.t.Helper()
	var f frame
	check(p.t, p.conn.ReadJSON(&f))
	return f
}

func (p *peer) ack(f frame) {
	p.t.Helper()
	check(p.t, p.conn.WriteJSON(map[string]string{"envelope_id": f.ID}))
}

// greeted is a peer that has had its hello.
func greeted(t *testing.T, s *simulator.Server) *peer {
	t.Helper()
	p := dial(t, s)
	if f := p.next(); f.Type != "hello" {
		t.Fatalf("first frame was %+v", f)
	}
	return p
}

func TestEventsWaitForASocket(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	first := s.Say(simulator.Alice, simulator.AliceDM, "one")
	second := s.Say(simulator.Alice, simulator.AliceDM, "two")
	p := greeted(t, s)
	for _, want := range []string{first, second} {
		f := p.next()
		if got := f.event(t)["ts"]; got != want || f.Attempt != 0 {
			t.Errorf("got %v in attempt %d, want %s", got, f.Attempt, want)
		}
		p.ack(f)
	}
	check(t, s.WaitSettled(within(t)))
}

func TestRetriesEnd(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{AckTimeout: time.Millisecond, RetryScale: 1e-9})
	p := greeted(t, s)
	s.Say(simulator.Alice, simulator.AliceDM, "anybody?")
	for n := range 4 {
		if f := p.next(); f.Attempt != n {
			t.Errorf("attempt %d, want %d", f.Attempt, n)
		}
	}
	_, err := s.WaitFor(within(t), simulator.OfKind(simulator.Lost))
	check(t, err)
	if s.Unacknowledged() != 0 || len(s.Acks()) != 0 {
		t.Error("the envelope is not given up")
	}
}

func TestClicksAreNotRetried(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{AckTimeout: time.Millisecond})
	greeted(t, s)
	_, err := s.Command(within(t), simulator.Alice, simulator.General, "/agent", "status")
	if !errors.Is(err, simulator.ErrUnacknowledged) {
		t.Errorf("got %v", err)
	}
	if e := s.Envelopes(); len(e) != 1 || len(e[0].Attempts) != 1 {
		t.Errorf("envelopes are %+v", e)
	}
}

func TestIgnoredAckIsRedelivered(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{AckTimeout: 20 * time.Millisecond, RetryScale: 1e-9})
	p := greeted(t, s)
	s.IgnoreAcks(1)
	s.Say(simulator.Alice, simulator.AliceDM, "x")
	p.ack(p.next())
	again := p.next()
	if again.Attempt != 1 {
		t.Errorf("second frame was %+v", again)
	}
	p.ack(again)
	check(t, s.WaitSettled(within(t)))
}

func TestDuplicateHasItsOwnEnvelope(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	p := greeted(t, s)
	s.DuplicateNext(1)
	ts := s.Say(simulator.Alice, simulator.AliceDM, "x")
	one, two := p.next(), p.next()
	if one.ID == two.ID || one.event(t)["ts"] != ts || string(one.Payload) != string(two.Payload) {
		t.Errorf("frames were %+v and %+v", one, two)
	}
}

func TestLargeAckIsNone(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{AckTimeout: time.Hour})
	p := greeted(t, s)
	s.Say(simulator.Alice, simulator.AliceDM, "x")
	f := p.next()
	check(t, p.conn.WriteJSON(map[string]string{"envelope_id": f.ID, "payload": strings.Repeat("x", 20<<10)}))
	// The ack of a second event shows that the large one has been read.
	s.Say(simulator.Alice, simulator.AliceDM, "y")
	p.ack(p.next())
	_, err := s.WaitFor(within(t), simulator.OfKind(simulator.Acked))
	check(t, err)
	if s.Unacknowledged() != 1 {
		t.Errorf("%d unacknowledged", s.Unacknowledged())
	}
}

func TestSocketsAreCountedAndLimited(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{MaxSockets: 2})
	dial(t, s)
	if f := dial(t, s).next(); f.Connected != 2 {
		t.Errorf("second hello was %+v", f)
	}
	turnedAway := dial(t, s)
	if f := turnedAway.next(); f.Type != "disconnect" || f.Reason != "too_many_websockets" {
		t.Errorf("third socket got %+v", f)
	}
	if _, _, err := turnedAway.conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("third socket ended with %v", err)
	}
}

func TestPayloadsGoToAnySocket(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{Seed: 1})
	greeted(t, s)
	greeted(t, s)
	used := map[int]bool{}
	for range 20 {
		s.Say(simulator.Alice, simulator.AliceDM, "x")
	}
	for _, e := range s.Envelopes() {
		used[e.Attempts[0].Socket] = true
	}
	if len(used) != 2 {
		t.Errorf("sockets used: %v", used)
	}
}

func TestTicketIsGoodOnce(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	address := open(t, s)
	conn, _, err := websocket.DefaultDialer.DialContext(within(t), address, nil)
	check(t, err)
	conn.Close()
	_, answer, err := websocket.DefaultDialer.DialContext(within(t), address, nil)
	if err == nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("second use got %v, %v", answer, err)
	}
}

func TestRefresh(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{ConnectionTime: 30 * time.Millisecond, DisconnectGrace: 10 * time.Millisecond})
	p := greeted(t, s)
	one, two := p.next(), p.next()
	if one.Reason != "warning" || two.Reason != "refresh_requested" {
		t.Errorf("frames were %+v and %+v", one, two)
	}
	if _, _, err := p.conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("socket ended with %v", err)
	}
}

func TestDrainingSocketStandsBack(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{DisconnectGrace: time.Hour})
	greeted(t, s)
	s.Disconnect("warning")
	fresh := greeted(t, s)
	for range 10 {
		s.Say(simulator.Alice, simulator.AliceDM, "x")
		fresh.ack(fresh.next())
	}
	check(t, s.WaitSettled(within(t)))
}

func TestLinkDisabled(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	p := greeted(t, s)
	s.Disconnect("link_disabled")
	if f := p.next(); f.Reason != "link_disabled" {
		t.Errorf("frame was %+v", f)
	}
	var out struct{ OK bool }
	call(t, s, "apps.connections.open", url.Values{"token": {s.AppToken()}}, &out)
	if out.OK {
		t.Error("a socket is handed out")
	}
	s.EnableLink()
	greeted(t, s)
}

func TestRefusedSocket(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.RefuseSockets(1)
	_, answer, err := websocket.DefaultDialer.DialContext(within(t), open(t, s), nil)
	if err == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %v, %v", answer, err)
	}
	greeted(t, s)
}

func TestPings(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{PingInterval: time.Millisecond})
	p := dial(t, s)
	pings := 0
	p.conn.SetPingHandler(func(string) error {
		if pings++; pings == 3 {
			s.CloseSockets()
		}
		return nil
	})
	p.next()
	if _, _, err := p.conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) || pings < 3 {
		t.Errorf("%d pings, then %v", pings, err)
	}
}

func TestStoppedPingsAreNotAnswered(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{PingInterval: time.Millisecond})
	p := greeted(t, s)
	pongs := 0
	p.conn.SetPongHandler(func(string) error { pongs++; return nil })
	ping := func() { check(t, p.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))) }
	s.StopPings(true)
	ping()
	// An acknowledged event shows that the ping before it has been read.
	s.Say(simulator.Alice, simulator.AliceDM, "x")
	p.ack(p.next())
	check(t, s.WaitSettled(within(t)))
	s.StopPings(false)
	ping()
	s.Say(simulator.Alice, simulator.AliceDM, "y")
	p.ack(p.next())
	check(t, s.WaitSettled(within(t)))
	s.CloseSockets()
	_, _, _ = p.conn.ReadMessage()
	if pongs != 1 {
		t.Errorf("%d pongs", pongs)
	}
}

func TestHalfOpenSocketSwallows(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{AckTimeout: time.Millisecond})
	p := greeted(t, s)
	s.HalfOpen()
	s.Say(simulator.Alice, simulator.AliceDM, "x")
	_, err := s.WaitFor(within(t), simulator.OfKind(simulator.TimedOut))
	check(t, err)
	if s.Sockets() != 1 {
		t.Error("the half-open socket is gone")
	}
	s.DropSockets()
	if _, _, err := p.conn.ReadMessage(); err == nil {
		t.Error("the payload arrived")
	}
}

func TestDeliverRaw(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	p := greeted(t, s)
	raw := `{"envelope_id":"e1","type":"never_heard_of","payload":[1]}`
	got := make(chan error, 1)
	ctx := within(t)
	go func() { _, err := s.Deliver(ctx, []byte(raw)); got <- err }()
	_, seen, err := p.conn.ReadMessage()
	check(t, err)
	if string(seen) != raw {
		t.Errorf("frame was %s", seen)
	}
	p.ack(frame{ID: "e1"})
	check(t, <-got)
	if _, err := s.Deliver(ctx, []byte(`{"type":"x"}`)); err == nil {
		t.Error("an envelope without id was taken")
	}
	if !s.SendFrame([]byte("not json")) {
		t.Error("no socket for a bare frame")
	}
	if _, seen, _ = p.conn.ReadMessage(); string(seen) != "not json" {
		t.Errorf("frame was %s", seen)
	}
}
