package oauth

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// Sweep does what is due, as Run does it again and again.
func (s *Service) Sweep(ctx context.Context) error { return s.sweep(ctx) }

// ClientsKnown is how many clients are told apart when n have asked for a page.
func ClientsKnown(now func() time.Time, n uint32) int {
	l := newLimits(now)
	for i := range n {
		a := netip.AddrFrom4([4]byte{203, byte(i >> 16), byte(i >> 8), byte(i)})
		l.allow(&http.Request{RemoteAddr: netip.AddrPortFrom(a, 1).String()})
	}
	return len(l.newer) + len(l.older)
}
