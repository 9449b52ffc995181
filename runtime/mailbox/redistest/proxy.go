package redistest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Mood is how a Proxy treats what passes through it.
type Mood string

const (
	// Passes is the mood of a healthy network, and of a new Proxy.
	Passes Mood = "passes"
	// Refuses resets all connections and refuses new ones.
	Refuses Mood = "refuses"
	// Blackholes accepts everything and lets nothing through. What was sent
	// meanwhile arrives when it ends, as with TCP: late, and once.
	Blackholes Mood = "blackholes"
	// Resets carries requests out and breaks the connection after the first
	// byte of a reply.
	Resets Mood = "resets in mid-reply"
	// HalfOpen has lost all connections that there are without telling the
	// client: they stay silent for good, whatever the mood is later. New ones
	// work.
	HalfOpen Mood = "half-open"
	// Drips hands replies on a byte at a time, five bytes a second.
	Drips Mood = "drips"
)

const dripEvery = 200 * time.Millisecond

// Proxy stands on loopback between a client and a server, and can spoil what
// passes. It is safe for concurrent use.
type Proxy struct {
	t      testing.TB
	target string
	addr   string
	work   sync.WaitGroup

	mu       sync.Mutex
	mood     Mood
	changed  chan struct{} // closed at a change of mood
	listener net.Listener  // nil while it refuses
	links    map[*link]bool
}

// StartProxy starts a proxy to an address, which the test ends.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, target: target, mood: Refuses, changed: make(chan struct{}), links: map[*link]bool{}}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	p.addr = (&node{port: port}).addr()
	t.Cleanup(func() {
		p.Set(Refuses)
		p.work.Wait()
	})
	p.Set(Passes)
	return p
}

// Addr is where clients connect to, "127.0.0.1:PORT".
func (p *Proxy) Addr() string { return p.addr }

// URL is the proxy's address as a setting: "redis://127.0.0.1:PORT".
func (p *Proxy) URL() string { return "redis://" + p.addr }

// Links is how many connections stand now.
func (p *Proxy) Links() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Set changes the mood; it holds for standing connections too, from the next
// byte on.
func (p *Proxy) Set(mood Mood) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mood = mood
	close(p.changed)
	p.changed = make(chan struct{})
	switch {
	case mood == Refuses:
		if p.listener != nil {
			_ = p.listener.Close()
			p.listener = nil
		}
		for l := range p.links {
			l.reset()
		}
		return
	case mood == HalfOpen:
		for l := range p.links {
			l.lose()
		}
	}
	if p.listener == nil {
		listener, err := net.Listen("tcp", p.addr)
		if err != nil {
			p.t.Fatalf("listen as proxy: %v", err)
		}
		p.listener = listener
		p.work.Go(func() { p.accept(listener) })
	}
}

func (p *Proxy) now() (Mood, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mood, p.changed
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client.(*net.TCPConn), server: server, gone: make(chan struct{}), lost: make(chan struct{})}
	p.mu.Lock()
	refused := p.mood == Refuses
	if !refused {
		p.links[l] = true
	}
	p.mu.Unlock()
	if refused {
		l.reset()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.pump(server, client, p.up) })
	both.Go(func() { l.pump(client, server, p.down) })
	both.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// up hands on what the client sends.
func (p *Proxy) up(l *link, server net.Conn, data []byte) error {
	if err := p.pass(l); err != nil {
		return err
	}
	_, err := server.Write(data)
	return err
}

// down hands on what the server answers.
func (p *Proxy) down(l *link, client net.Conn, data []byte) error {
	for len(data) > 0 {
		if err := p.pass(l); err != nil {
			return err
		}
		n := len(data)
		mood, changed := p.now()
		if mood == Resets || mood == Drips {
			n = 1
		}
		if _, err := client.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		switch mood {
		case Resets:
			l.reset()
			return errLost
		case Drips:
			l.wait(changed, dripEvery)
		}
	}
	return nil
}

// pass waits until something may pass.
func (p *Proxy) pass(l *link) error {
	for {
		mood, changed := p.now()
		if l.isLost() {
			return errLost
		}
		if mood != Blackholes {
			return nil
		}
		l.wait(changed, 0)
	}
}

var errLost = errors.New("the connection is lost")

// link is one connection through a proxy.
type link struct {
	client *net.TCPConn
	server net.Conn
	end    sync.Once
	gone   chan struct{} // closed when neither side stands
	drop   sync.Once
	lost   chan struct{} // closed when the server side is gone and the client not told
}

// pump reads from one side until it ends, which ends the other too. What it
// read before the link was lost goes nowhere.
func (l *link) pump(to, from net.Conn, hand func(*link, net.Conn, []byte) error) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !l.isLost() {
			_ = hand(l, to, buffer[:n])
		}
		if err == nil {
			continue
		}
		if l.isLost() && from == l.server {
			return // the client is not told
		}
		if errors.Is(err, io.EOF) {
			l.close()
		} else {
			l.reset()
		}
		return
	}
}

func (l *link) lose() {
	l.drop.Do(func() {
		close(l.lost)
		_ = l.server.Close()
	})
}

func (l *link) isLost() bool {
	select {
	case <-l.lost:
		return true
	case <-l.gone:
		return true
	default:
		return false
	}
}

// reset ends both sides; the client sees a reset instead of an end.
func (l *link) reset() {
	_ = l.client.SetLinger(0)
	l.close()
}

func (l *link) close() {
	l.end.Do(func() {
		close(l.gone)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

// wait returns at a change of mood, at the end of the link, or after a while
// (0: not before).
func (l *link) wait(changed <-chan struct{}, span time.Duration) {
	var late <-chan time.Time
	if span > 0 {
		timer := time.NewTimer(span)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-changed:
	case <-l.gone:
	case <-l.lost:
	case <-late:
	}
}
