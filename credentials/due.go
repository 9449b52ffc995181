package credentials

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Flows that something has still to be done about stand in one list, by when.
// It is a hint for those who do it: what is done, and by whom, the flow itself
// decides (SwapFlow). Its entries are names, which are no secrets.

func (s store) due() string { return s.shard(0) + "reminders" }

// Remind puts a flow on the list, or moves it there.
func (v *Vault) Remind(ctx context.Context, flow string, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := v.redis.ZAdd(ctx, v.due(), redis.Z{Score: float64(at.UnixMilli()), Member: flow}).Err(); err != nil {
		return fmt.Errorf("remind of a flow: %w", err)
	}
	return nil
}

// Due are flows whose time has come, at most n of them.
func (v *Vault) Due(ctx context.Context, now time.Time, n int64) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	flows, err := v.redis.ZRangeByScore(ctx, v.due(), &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10), Count: n}).Result()
	if err != nil {
		return nil, fmt.Errorf("read what is due: %w", err)
	}
	return flows, nil
}

// Reminders are all flows on the list.
func (v *Vault) Reminders(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	flows, err := v.redis.ZRange(ctx, v.due(), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read reminders: %w", err)
	}
	return flows, nil
}

// Unremind takes a flow off the list.
func (v *Vault) Unremind(ctx context.Context, flow string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := v.redis.ZRem(ctx, v.due(), flow).Err(); err != nil {
		return fmt.Errorf("take a reminder out: %w", err)
	}
	return nil
}
