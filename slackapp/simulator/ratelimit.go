package simulator

import (
	"math"
	"time"
)

// bucket is a token bucket in fractions of calls.
type bucket struct {
	tokens float64
	at     time.Time
}

// overLimit is how many seconds a call must wait, 0 when it may be carried
// out. The lock is held.
func (s *Server) overLimit(name string, a args) int {
	if !s.o.RateLimits {
		return 0
	}
	key, perSecond, burst := name, float64(methods[name].tier)/60, float64(methods[name].tier)
	if name == "chat.postMessage" {
		// Slack says one a second and channel, short bursts allowed, and does
		// not say how short.
		key, perSecond, burst = name+" "+a.get("channel"), 1, 10
	}
	if perSecond == 0 {
		return 0
	}
	now := s.o.Now()
	b := s.buckets[key]
	if b == nil {
		b = &bucket{tokens: burst, at: now}
		s.buckets[key] = b
	}
	b.tokens = min(burst, b.tokens+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return int(math.Ceil((1 - b.tokens) / perSecond))
}
