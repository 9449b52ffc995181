package redistest

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Value is all that stands at a key, of the types that Reeve uses.
func Value(ctx context.Context, client redis.Cmdable, key string) (any, error) {
	kind, err := client.Type(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	switch kind {
	case "string":
		return client.Get(ctx, key).Result()
	case "hash":
		return client.HGetAll(ctx, key).Result()
	case "list":
		return client.LRange(ctx, key, 0, -1).Result()
	case "zset":
		return client.ZRangeWithScores(ctx, key, 0, -1).Result()
	case "stream":
		return client.XRange(ctx, key, "-", "+").Result()
	}
	return nil, fmt.Errorf("read %s: it is a %s", key, kind)
}
