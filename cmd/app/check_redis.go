package app

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// oldestRedis is the oldest major version with the scripts' #!lua header.
const oldestRedis = 7

// durabilitySettings are what the promises about acknowledged messages stand
// on, and what is lost without each.
var durabilitySettings = []struct {
	name, want, lost string
	of               func(redisFacts) string
}{
	{"appendonly", "yes", "a restart of Redis loses everything since its last snapshot", func(f redisFacts) string { return f.AppendOnly }},
	{"appendfsync", "always", "a crash of the machine loses the last second of messages that Slack was told we have", func(f redisFacts) string { return f.AppendFsync }},
	{"maxmemory-policy", "noeviction", "Redis throws waiting messages and running turns away when its memory is full", func(f redisFacts) string { return f.MaxmemoryPolicy }},
}

func checkRedis(ctx context.Context, s Settings, ask func(context.Context, string) (redisFacts, error)) []finding {
	const test = "Redis"
	if s.RedisURL == "" {
		return []finding{{test, warned, "REDIS_URL is not set: everything is kept in memory, and lost when the process ends", "set REDIS_URL before others use the bot"}}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	facts, err := ask(ctx, s.RedisURL)
	if err != nil {
		return []finding{redisFailure(err)}
	}
	found := []finding{{test: test, detail: "version " + facts.Version + " at " + shownURL(s.RedisURL)}}
	switch major, ok := majorVersion(facts.Version); {
	case !ok:
		found[0].result, found[0].detail = warned, "it does not say its version"
		found[0].fix = "see that it is Redis 7 or newer"
	case major < oldestRedis:
		found[0].result, found[0].fix = wrong, "use Redis 7 or newer"
	}
	if !facts.Writable {
		found = append(found, finding{"Redis writing", unreachable, "it does not take writes now (a replica, or its memory is full)", "point REDIS_URL at the primary, and see that memory is left"})
	}
	if s.RedisDurability == "ignore" {
		return append(found, finding{test: "Redis durability", detail: "not looked at (REDIS_DURABILITY=ignore)"})
	}
	for _, d := range durabilitySettings {
		found = append(found, durabilityFinding(s, d.name, d.of(facts), d.want, d.lost))
	}
	return found
}

// durability says at the start of run, and whenever it is asked again, what may
// be lost with this Redis. With REDIS_DURABILITY=require that is a *ConfigError.
func durability(log *slog.Logger, s Settings, facts redisFacts) error {
	if s.RedisURL == "" || s.RedisDurability == "ignore" {
		return nil
	}
	var problems []string
	for _, d := range durabilitySettings {
		f := durabilityFinding(s, d.name, d.of(facts), d.want, d.lost)
		switch f.result {
		case warned:
			log.Warn("redis may lose what it has acknowledged", "setting", d.name, "lost", f.detail, "fix", f.fix)
		case wrong:
			problems = append(problems, f.String())
		}
	}
	if len(problems) > 0 {
		return &ConfigError{problems}
	}
	return nil
}

func durabilityFinding(s Settings, name, got, want, lost string) finding {
	test := "Redis " + name
	if got == want {
		return finding{test: test, detail: got}
	}
	f := finding{test, warned, "", "CONFIG SET " + name + " " + want + ", and the same in redis.conf"}
	if s.RedisDurability == "require" {
		f.result = wrong
		f.fix += " (or REDIS_DURABILITY=warn to live with it)"
	}
	if got == "" {
		f.detail = "the server does not tell; unless it is " + want + ", " + lost
		f.fix = "look it up with your provider; REDIS_DURABILITY=ignore ends this line"
	} else {
		f.detail = "it is " + got + ": " + lost
	}
	return f
}

func redisFailure(err error) finding {
	for _, sign := range []string{"WRONGPASS", "NOAUTH", "NOPERM", "invalid username-password", "AUTH failed"} {
		if strings.Contains(err.Error(), sign) {
			return finding{"Redis", wrong, err.Error(), "put the right user and password in REDIS_URL, before the host"}
		}
	}
	for _, sign := range []string{"DB index is out of range", "invalid DB index"} {
		if strings.Contains(err.Error(), sign) {
			return finding{"Redis", wrong, err.Error(), "put the number of a database that this Redis has at the end of REDIS_URL (most have 0 to 15)"}
		}
	}
	return finding{"Redis", unreachable, err.Error(), "see that REDIS_URL is right, that Redis runs, and that this machine reaches it"}
}

// redisRefused makes what waiting does not mend a wrong setting.
func redisRefused(err error) error {
	if err == nil {
		return nil
	}
	if f := redisFailure(err); f.result == wrong {
		return &ConfigError{[]string{"REDIS_URL: " + f.detail + "; fix: " + f.fix}}
	}
	return err
}

func majorVersion(version string) (int, bool) {
	first, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	return major, err == nil
}
