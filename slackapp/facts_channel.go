package slackapp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// ChannelFacts looks up who can read a channel.
type ChannelFacts struct {
	client *slack.Client
	cache  *expiring[chat.ChannelID, chat.Visibility]
}

// NewChannelFacts makes a ChannelFacts.
func NewChannelFacts(client *slack.Client) *ChannelFacts {
	return &ChannelFacts{client: client, cache: newExpiring[chat.ChannelID, chat.Visibility](20_000)}
}

// Visibility is a channel's kind, asked of Slack once an hour.
func (c *ChannelFacts) Visibility(ctx context.Context, channel chat.ChannelID) (chat.Visibility, error) {
	if v, ok := c.cache.get(channel); ok {
		return v, nil
	}
	info, err := c.client.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: string(channel)})
	if err != nil {
		return "", fmt.Errorf("look up channel %s: %w", channel, err)
	}
	v := chat.Public
	switch {
	case info.IsExtShared || info.IsPendingExtShared:
		v = chat.Shared
	case info.IsIM:
		v = chat.DM
	case info.IsMpIM || info.IsPrivate || info.IsGroup:
		v = chat.Private
	}
	c.cache.put(channel, v, factsFor)
	return v, nil
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

func (e *expiring[K, V]) drop(k K) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.m, k)
}
