package slackapp

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"reeve/runtime/chat"
)

// channelPace keeps posts within what Slack allows a channel: about one a
// second, with bursts.
type channelPace struct {
	rate  rate.Limit
	burst int

	mu       sync.Mutex
	channels map[chat.ChannelID]*bucket
}

type bucket struct {
	*rate.Limiter
	held time.Time // no post before
}

func newChannelPace(r rate.Limit, burst int) *channelPace {
	return &channelPace{rate: r, burst: burst, channels: map[chat.ChannelID]*bucket{}}
}

// of is the channel's bucket; the caller holds the lock. Full ones are
// forgotten when there are many.
func (p *channelPace) of(channel chat.ChannelID) *bucket {
	b, ok := p.channels[channel]
	if ok {
		return b
	}
	if len(p.channels) >= 4096 {
		now := time.Now()
		for c, b := range p.channels {
			if now.After(b.held) && b.TokensAt(now) >= float64(p.burst) {
				delete(p.channels, c)
			}
		}
	}
	b = &bucket{Limiter: rate.NewLimiter(p.rate, p.burst)}
	p.channels[channel] = b
	return b
}

// hold keeps a channel silent for a while.
func (p *channelPace) hold(channel chat.ChannelID, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, until := p.of(channel), time.Now().Add(wait); until.After(b.held) {
		b.held = until
	}
}

// wait waits until the channel may get a post, or answers errOver when over or
// stop is closed.
func (p *channelPace) wait(channel chat.ChannelID, over, stop <-chan struct{}) error {
	for {
		p.mu.Lock()
		b := p.of(channel)
		delay := time.Until(b.held)
		var r *rate.Reservation
		if delay <= 0 {
			r = b.Reserve()
			delay = r.Delay()
		}
		p.mu.Unlock()
		if delay <= 0 {
			return nil
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
			if r != nil {
				return nil
			}
		case <-over:
			timer.Stop()
			return errOver
		case <-stop:
			timer.Stop()
			return errOver
		}
	}
}
