package mailbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ProbeResult is what a server says of itself. An empty field was not told.
type ProbeResult struct {
	Version         string
	AppendOnly      string
	AppendFsync     string
	MaxmemoryPolicy string
	// Writable: a write was taken just now.
	Writable bool
}

// Probe asks the server at an address of Options.URL's forms about itself.
func Probe(ctx context.Context, url string) (ProbeResult, error) {
	rdb, err := connect(url)
	if err != nil {
		return ProbeResult{}, err
	}
	defer rdb.Close()
	if err := rdb.Ping(ctx).Err(); err != nil {
		return ProbeResult{}, fmt.Errorf("reach redis: %w", err)
	}
	return ProbeResult{
		Version:         infoField(ctx, rdb, "server", "redis_version"),
		AppendOnly:      configField(ctx, rdb, "appendonly"),
		AppendFsync:     configField(ctx, rdb, "appendfsync"),
		MaxmemoryPolicy: configField(ctx, rdb, "maxmemory-policy"),
		Writable:        rdb.Set(ctx, keys{"reeve"}.once("probe"), "1", time.Second).Err() == nil,
	}, nil
}

// infoField is one field of INFO; empty when the server does not tell.
func infoField(ctx context.Context, rdb redis.UniversalClient, section, name string) string {
	info, err := rdb.Info(ctx, section).Result()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && key == name {
			return value
		}
	}
	return ""
}

func configField(ctx context.Context, rdb redis.UniversalClient, name string) string {
	values, err := rdb.ConfigGet(ctx, name).Result()
	if err != nil {
		return ""
	}
	return values[name]
}
