package simulator

// socketFaults are what goes wrong on the Socket Mode side.
type socketFaults struct {
	opened       int // sockets so far; also their ids
	refusals     int // upgrades to refuse; for ever when negative
	tooMany      int // sockets to turn away after the upgrade
	noPings      bool
	ignoreAcks   int
	duplicates   int
	linkDisabled bool
}

func (f *socketFaults) takeRefusal() bool { return take(&f.refusals) }
func (f *socketFaults) takeTooMany() bool { return take(&f.tooMany) }

func take(n *int) bool {
	if *n > 0 {
		*n--
		return true
	}
	return *n < 0
}

// Sockets is how many are open.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.sockets {
		if !c.closing {
			n++
		}
	}
	return n
}

// DropSockets cuts every socket without a close frame.
func (s *Server) DropSockets() { s.eachSocket((*socket).drop) }

// CloseSockets closes every socket with the close handshake.
func (s *Server) CloseSockets() { s.eachSocket((*socket).shutdown) }

// HalfOpen leaves every present socket open and lets nothing pass either way,
// as when a router forgot the connection.
func (s *Server) HalfOpen() { s.eachSocket(func(c *socket) { c.dead = true }) }

// Disconnect sends every socket a disconnect frame and closes it after
// Options.DisconnectGrace, or at once for link_disabled, which also keeps new
// ones from being opened until EnableLink. Reasons are warning,
// refresh_requested, link_disabled and too_many_websockets.
func (s *Server) Disconnect(reason string) {
	s.mu.Lock()
	s.network.linkDisabled = s.network.linkDisabled || reason == "link_disabled"
	s.mu.Unlock()
	s.eachSocket(func(c *socket) { s.disconnect(c, reason) })
}

func (s *Server) disconnect(c *socket, reason string) {
	if c.closing {
		return
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.send(disconnectFrame(reason))
	c.draining = true
	switch reason {
	case "warning":
		c.cancel = s.after(s.o.DisconnectGrace, func() {
			c.send(disconnectFrame("refresh_requested"))
			c.shutdown()
		})
	case "refresh_requested":
		c.cancel = s.after(s.o.DisconnectGrace, c.shutdown)
	default:
		c.shutdown()
	}
}

// EnableLink undoes link_disabled.
func (s *Server) EnableLink() { s.setNetwork(func(f *socketFaults) { f.linkDisabled = false }) }

// StopPings stops, or resumes, pings and pongs on every socket.
func (s *Server) StopPings(stop bool) { s.setNetwork(func(f *socketFaults) { f.noPings = stop }) }

// RefuseSockets answers the next n upgrades with 503; all when n is negative,
// none when it is 0.
func (s *Server) RefuseSockets(n int) { s.setNetwork(func(f *socketFaults) { f.refusals = n }) }

// TooManySockets turns the next n sockets away with too_many_websockets.
func (s *Server) TooManySockets(n int) { s.setNetwork(func(f *socketFaults) { f.tooMany = n }) }

// IgnoreAcks lets the next n acknowledgements get lost.
func (s *Server) IgnoreAcks(n int) { s.setNetwork(func(f *socketFaults) { f.ignoreAcks = n }) }

// DuplicateNext delivers the next n payloads twice.
func (s *Server) DuplicateNext(n int) { s.setNetwork(func(f *socketFaults) { f.duplicates = n }) }

// SendFrame sends a text frame as it is on one of the open sockets, which
// nobody needs to acknowledge. It returns false when none is open.
func (s *Server) SendFrame(raw []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.pickSocket()
	if c != nil {
		c.send(raw)
	}
	return c != nil
}

func (s *Server) setNetwork(set func(*socketFaults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set(&s.network)
}

func (s *Server) eachSocket(do func(*socket)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sockets {
		do(c)
	}
}
