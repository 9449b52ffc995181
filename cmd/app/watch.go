package app

import (
	"context"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// watchDurability looks again and again at what Redis promises to keep: a
// server that is restarted, or replaced, may promise less. It ends nothing, for
// a bot that is down keeps nothing either; with REDIS_DURABILITY=require the
// next start is refused.
func (a assembly) watchDurability(ctx context.Context) error {
	if a.settings.RedisURL == "" || a.settings.RedisDurability == "ignore" {
		<-ctx.Done()
		return ctx.Err()
	}
	tick := time.NewTicker(a.options.DurabilityEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		facts, err := mailbox.Probe(ctx, a.settings.RedisURL)
		if err == nil {
			err = durability(a.log, a.settings, redisFacts(facts))
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error("redis may lose what it has acknowledged", "err", err)
		}
	}
}

// meter counts the tokens of a person's day, by the calendar of UTC.
type meter struct{ box *mailbox.Box }

func today() string { return time.Now().UTC().Format(time.DateOnly) }

func (m meter) Spent(ctx context.Context, who chat.Actor) (int, error) {
	return m.box.Tokens(ctx, who, today())
}

func (m meter) Add(ctx context.Context, who chat.Actor, n int) error {
	return m.box.AddTokens(ctx, who, today(), n)
}
