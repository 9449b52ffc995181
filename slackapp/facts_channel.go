package slackapp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"reeve/runtime/chat"
)

// ChannelFacts looks up who can read a channel. All who ask share one share of
// the rate that Slack allows.
type ChannelFacts struct {
	client *slack.Client
	cache  *expiring[chat.ChannelID, channelFact]
	one    singleflight.Group
	pace   *rate.Limiter
}

// channelFact is what Slack said of a channel, and when it was asked.
type channelFact struct {
	visibility chat.Visibility
	asked      time.Time
}

// NewChannelFacts makes a ChannelFacts.
func NewChannelFacts(client *slack.Client) *ChannelFacts {
	return &ChannelFacts{
		client: client, cache: newExpiring[chat.ChannelID, channelFact](20_000),
		pace: rate.NewLimiter(rate.Every(time.Minute/40), 20), // of Slack's 50 a minute
	}
}

// Visibility is a channel's kind, asked of Slack once an hour.
func (c *ChannelFacts) Visibility(ctx context.Context, channel chat.ChannelID) (chat.Visibility, error) {
	return c.Within(ctx, channel, factsFor)
}

// Within is a channel's kind as Slack said it no longer ago than age.
// Concurrent questions about one channel are asked once.
func (c *ChannelFacts) Within(ctx context.Context, channel chat.ChannelID, age time.Duration) (chat.Visibility, error) {
	if v, ok := c.known(channel, age); ok {
		return v, nil
	}
	answer := c.one.DoChan(string(channel), func() (any, error) {
		// Not the first caller's context: others wait for the answer too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return c.ask(ctx, channel)
	})
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("look up channel %s: %w", channel, ctx.Err())
	case r := <-answer:
		if r.Err != nil {
			return "", fmt.Errorf("look up channel %s: %w", channel, r.Err)
		}
		return r.Val.(chat.Visibility), nil
	}
}

// known is what Slack has said of a channel within age.
func (c *ChannelFacts) known(channel chat.ChannelID, age time.Duration) (chat.Visibility, bool) {
	f, ok := c.cache.get(channel)
	return f.visibility, ok && since(f.asked) <= age
}

func (c *ChannelFacts) ask(ctx context.Context, channel chat.ChannelID) (chat.Visibility, error) {
	if err := c.pace.Wait(ctx); err != nil {
		return "", err
	}
	asked := time.Now()
	info, err := c.client.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: string(channel)})
	if err != nil {
		return "", err
	}
	v := readersOf(info)
	c.cache.put(channel, channelFact{v, asked}, factsFor)
	return v, nil
}

func readersOf(info *slack.Channel) chat.Visibility {
	switch {
	case info.IsExtShared || info.IsPendingExtShared:
		return chat.Shared
	case info.IsIM:
		return chat.DM
	case info.IsMpIM || info.IsPrivate || info.IsGroup:
		return chat.Private
	}
	return chat.Public
}

// expiring is a bounded map whose entries end.
type expiring[K comparable, V any] struct {
	most int
	mu   sync.Mutex
	m    map[K]expiringEntry[V]
}

type expiringEntry[V any] struct {
	value V
	until time.Time
}

func newExpiring[K comparable, V any](most int) *expiring[K, V] {
	return &expiring[K, V]{most: most, m: map[K]expiringEntry[V]{}}
}

func (e *expiring[K, V]) get(k K) (v V, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	entry, ok := e.m[k]
	if !ok || !time.Now().Before(entry.until) {
		return v, false
	}
	return entry.value, true
}

func (e *expiring[K, V]) put(k K, v V, ttl time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.m[k]; !known && len(e.m) >= e.most {
		e.makeRoom()
	}
	e.m[k] = expiringEntry[V]{v, time.Now().Add(ttl)}
}

// makeRoom drops what has ended, and a tenth of the others if need be.
func (e *expiring[K, V]) makeRoom() {
	now, spare := time.Now(), e.most/10+1
	for k, entry := range e.m {
		if !now.Before(entry.until) {
			delete(e.m, k)
			spare--
		}
	}
	for k := range e.m {
		if spare <= 0 {
			return
		}
		delete(e.m, k)
		spare--
	}
}
