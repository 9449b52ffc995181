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
	var r ProbeResult
	var errs [4]error
	r.Version, errs[0] = infoField(ctx, rdb, "server", "redis_version")
	r.AppendOnly, errs[1] = configField(ctx, rdb, "appendonly")
	r.AppendFsync, errs[2] = configField(ctx, rdb, "appendfsync")
	r.MaxmemoryPolicy, errs[3] = configField(ctx, rdb, "maxmemory-policy")
	// A server that does not tell is one thing, and one that is gone another.
	for _, err := range errs {
		if passing(err) {
			return ProbeResult{}, fmt.Errorf("ask redis what it keeps: %w", err)
		}
	}
	r.Writable = rdb.Set(ctx, keys{"reeve"}.once("probe"), "1", time.Second).Err() == nil
	return r, nil
}

// infoField is one field of INFO; empty when the server does not tell.
func infoField(ctx context.Context, rdb redis.UniversalClient, section, name string) (string, error) {
	info, err := rdb.Info(ctx, section).Result()
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && key == name {
			return value, err
		}
	}
	return "", err
}

func configField(ctx context.Context, rdb redis.UniversalClient, name string) (string, error) {
	values, err := rdb.ConfigGet(ctx, name).Result()
	return values[name], err
}
