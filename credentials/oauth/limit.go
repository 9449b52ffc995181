package oauth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How many pages strangers may ask for: each client on its own, so that none locks
// the others out, and all of them together, which bounds what we and the store do.
const (
	clientRate, clientBurst = 5, 40
	allRate, allBurst       = 200, 400
	// clientsMost is how many clients are told apart, twice over.
	clientsMost = 4096
)

// limits bound what strangers can make us do.
type limits struct {
	now func() time.Time
	all *rate.Limiter

	mu sync.Mutex
	// Two generations: when the newer is full, it becomes the older, whose clients
	// begin anew if they have not come since. So the table is bounded, and is never
	// gone through.
	newer, older map[netip.Prefix]*rate.Limiter
}

func newLimits(now func() time.Time) *limits {
	return &limits{now: now, all: rate.NewLimiter(allRate, allBurst), newer: map[netip.Prefix]*rate.Limiter{}}
}

// allow reports whether a request may be served. One that its client's own limit
// refuses takes nothing from the others'.
func (l *limits) allow(r *http.Request) bool {
	now := l.now()
	return l.of(client(r)).AllowN(now, 1) && l.all.AllowN(now, 1)
}

func (l *limits) of(client netip.Prefix) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.newer[client]; own != nil {
		return own
	}
	own := l.older[client]
	if own == nil {
		own = rate.NewLimiter(clientRate, clientBurst)
	}
	if len(l.newer) >= clientsMost {
		l.newer, l.older = map[netip.Prefix]*rate.Limiter{}, l.newer
	}
	l.newer[client] = own
	return own
}

// client is who asks: an address, or a network of IPv6 that is given to one. What a
// request says of itself is believed only of a proxy of our own, which a peer in a
// private network is taken for; and of that, what the nearest proxy has added: the
// last address that is none of ours. Whoever reaches us from a private network
// without a proxy can so pass for many, and is bounded with all.
func client(r *http.Request) netip.Prefix {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	peer, _ := netip.ParseAddr(host)
	if peer = peer.Unmap().WithZone(""); !ours(peer) {
		return network(peer)
	}
	named := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(named) - 1; i >= 0; i-- {
		a, err := netip.ParseAddr(strings.TrimSpace(named[i]))
		if err != nil {
			break
		}
		if peer = a.Unmap().WithZone(""); !ours(peer) {
			break
		}
	}
	return network(peer)
}

// ours reports whether an address is of this machine or a private network.
func ours(a netip.Addr) bool { return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() }

func network(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}
