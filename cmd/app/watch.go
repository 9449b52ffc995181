package app

import (
	"context"
	"errors"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// askDurability asks Redis what it promises to keep, and says what may be lost.
// With REDIS_DURABILITY=require that is a *ConfigError; any other error says that
// Redis could not be asked.
func (a assembly) askDurability(ctx context.Context) error {
	if a.settings.RedisURL == "" || a.settings.RedisDurability == "ignore" {
		return nil
	}
	facts, err := mailbox.Probe(ctx, a.settings.RedisURL)
	if err != nil {
		return err
	}
	return durability(a.log, a.settings, redisFacts(facts))
}

// watchDurability looks again and again at what Redis promises to keep: a
// server that is restarted, or replaced, may promise less. It ends nothing, for
// a bot that is down keeps nothing either; with REDIS_DURABILITY=require it is
// not ready until it is promised again, and the next start is refused.
func (a assembly) watchDurability(ctx context.Context) error {
	if a.settings.RedisURL == "" || a.settings.RedisDurability == "ignore" {
		<-ctx.Done()
		return ctx.Err()
	}
	tick := time.NewTicker(a.options.DurabilityEvery)
	defer tick.Stop()
	for lost := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		err := a.askDurability(ctx)
		var config *ConfigError
		switch {
		case err == nil && lost:
			lost = false
			a.ready.Set("durability", "")
			a.log.Info("redis keeps what it acknowledges again")
		case err == nil:
		case ctx.Err() != nil:
		case errors.As(err, &config):
			lost = true
			a.ready.Set("durability", "redis may lose what it has acknowledged")
			a.log.Error("redis may lose what it has acknowledged", "err", err)
		default: // what it said last stands
			a.log.Warn("redis not asked what it keeps", "err", err)
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
