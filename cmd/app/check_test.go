package app

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"reeve/agent/openai"
	"reeve/slackapp"
)

// checked is a deployment in which nothing is wrong.
func checked() (Settings, *facts) {
	s, err := ParseSettings(map[string]string{
		"SLACK_APP_TOKEN": fakeApp, "SLACK_BOT_TOKEN": fakeBot, "OPENAI_API_KEY": fakeKey, "OPENAI_MODEL": "gpt-x",
		"REDIS_URL": "redis://user:" + "wordpass@redis.example:6379/0",
	})
	if err != nil {
		panic(err)
	}
	f := &facts{
		bot:   slackapp.BotFacts{Team: "T1", TeamName: "Acme", User: "U1", Name: "reeve", Bot: "B1"},
		redis: redisFacts{Version: "7.0.15", AppendOnly: "yes", AppendFsync: "always", MaxmemoryPolicy: "noeviction", Writable: true},
	}
	for _, s := range scopes {
		f.bot.Scopes = append(f.bot.Scopes, s.name)
	}
	return s, f
}

// facts are what the probes find.
type facts struct {
	bot                              slackapp.BotFacts
	redis                            redisFacts
	botErr, appErr, redErr, modelErr error
}

func (f *facts) probes() probes {
	return probes{
		bot:   func(context.Context, string, string) (slackapp.BotFacts, error) { return f.bot, f.botErr },
		app:   func(context.Context, string, string) error { return f.appErr },
		redis: func(context.Context, string) (redisFacts, error) { return f.redis, f.redErr },
		model: func(context.Context, string, string, string) error { return f.modelErr },
	}
}

func TestCheck(t *testing.T) {
	away := errors.New("dial tcp: connection refused")
	for _, c := range []struct {
		name  string
		wrong func(*Settings, *facts)
		code  int
		lines []string
	}{
		{"all well", func(*Settings, *facts) {}, 0, []string{
			"settings: ok", "SLACK_BOT_TOKEN: ok: reeve (U1) in Acme (T1)", "Slack scopes: ok", "SLACK_APP_TOKEN: ok",
			"Redis: ok: version 7.0.15 at redis://***@redis.example:6379/0", "Redis appendonly: ok: yes",
			"Redis appendfsync: ok: always", "Redis maxmemory-policy: ok: noeviction", "model: ok: gpt-x answers",
			"who may use it: every member of the workspace; no guests; nobody of another organisation; in every channel",
		}},
		{"bot token refused", func(_ *Settings, f *facts) { f.botErr = &slackapp.ProbeRefused{Code: "invalid_auth"} }, 3,
			[]string{"SLACK_BOT_TOKEN: wrong: Slack says invalid_auth; fix: install the app"}},
		{"a user's token", func(_ *Settings, f *facts) { f.bot.Bot = "" }, 3,
			[]string{"SLACK_BOT_TOKEN: wrong: it is not the token of a bot; fix: "}},
		{"app token without its scope", func(_ *Settings, f *facts) { f.appErr = &slackapp.ProbeRefused{Code: "missing_scope"} }, 3,
			[]string{"SLACK_APP_TOKEN: wrong: Slack says missing_scope; fix: make an app-level token with the scope connections:write"}},
		{"Slack away", func(_ *Settings, f *facts) { f.botErr, f.appErr = away, away }, 4,
			[]string{"SLACK_BOT_TOKEN: cannot be reached: dial tcp: connection refused; fix: ", "SLACK_APP_TOKEN: cannot be reached"}},
		{"scopes", func(_ *Settings, f *facts) { f.bot.Scopes = append(f.bot.Scopes[1:], "admin") }, 3,
			[]string{"Slack scopes: wrong: missing app_mentions:read; fix: paste the output of reeve manifest"}},
		{"more scopes", func(_ *Settings, f *facts) { f.bot.Scopes = append(f.bot.Scopes, "admin") }, 0,
			[]string{"Slack scopes: ok: all that are needed; not needed: admin"}},
		{"scopes not told", func(_ *Settings, f *facts) { f.bot.Scopes = nil }, 0, []string{"Slack scopes: warning: Slack did not say"}},
		{"no Redis set", func(s *Settings, _ *facts) { s.RedisURL = "" }, 0,
			[]string{"Redis: warning: REDIS_URL is not set: everything is kept in memory, and lost when the process ends; fix: set REDIS_URL"}},
		{"Redis away", func(_ *Settings, f *facts) { f.redErr = away }, 4, []string{"Redis: cannot be reached: dial tcp"}},
		{"Redis password", func(_ *Settings, f *facts) { f.redErr = errors.New("WRONGPASS invalid username-password pair") }, 3,
			[]string{"Redis: wrong: WRONGPASS", "fix: put the right user and password in REDIS_URL"}},
		{"no such database", func(_ *Settings, f *facts) { f.redErr = errors.New("reach redis: ERR DB index is out of range") }, 3,
			[]string{"Redis: wrong: reach redis: ERR DB index", "fix: put the number of a database that this Redis has"}},
		{"old Redis", func(_ *Settings, f *facts) { f.redis.Version = "6.2.14" }, 3,
			[]string{"Redis: wrong: version 6.2.14 at redis://***@redis.example:6379/0; fix: use Redis 7 or newer"}},
		{"version not told", func(_ *Settings, f *facts) { f.redis.Version = "" }, 0, []string{"Redis: warning: it does not say its version"}},
		{"read-only Redis", func(_ *Settings, f *facts) { f.redis.Writable = false }, 4, []string{"Redis writing: cannot be reached"}},
		{"durability", func(_ *Settings, f *facts) {
			f.redis.AppendOnly, f.redis.AppendFsync, f.redis.MaxmemoryPolicy = "no", "everysec", "allkeys-lru"
		}, 0, []string{
			"Redis appendonly: warning: it is no: a restart of Redis loses everything since its last snapshot; fix: CONFIG SET appendonly yes",
			"Redis appendfsync: warning: it is everysec: a crash of the machine loses the last second",
			"Redis maxmemory-policy: warning: it is allkeys-lru: Redis throws waiting messages and running turns away",
		}},
		{"durability not told", func(_ *Settings, f *facts) { f.redis.AppendFsync = "" }, 0,
			[]string{"Redis appendfsync: warning: the server does not tell; unless it is always, a crash"}},
		{"durability required", func(s *Settings, f *facts) { s.RedisDurability, f.redis.AppendFsync = "require", "" }, 3,
			[]string{"Redis appendfsync: wrong: the server does not tell"}},
		{"durability ignored", func(s *Settings, f *facts) { s.RedisDurability, f.redis.AppendOnly = "ignore", "no" }, 0,
			[]string{"Redis durability: ok: not looked at"}},
		{"model key", func(_ *Settings, f *facts) { f.modelErr = &openai.ProbeRefused{Status: 401, Code: "invalid_api_key"} }, 3,
			[]string{"model: wrong: the provider answers 401 (invalid_api_key); fix: set OPENAI_API_KEY"}},
		{"model unknown", func(_ *Settings, f *facts) { f.modelErr = &openai.ProbeRefused{Status: 404} }, 3,
			[]string{"model: wrong: the provider answers 404; fix: see that OPENAI_MODEL"}},
		{"model limited", func(_ *Settings, f *facts) { f.modelErr = &openai.ProbeRefused{Status: 429} }, 4, []string{"model: cannot be reached"}},
		{"model away", func(_ *Settings, f *facts) { f.modelErr = away }, 4, []string{"model: cannot be reached: dial tcp"}},
		{"no model", func(s *Settings, _ *facts) { s.OpenAIModel = "" }, 3, []string{"model: wrong: OPENAI_MODEL is not set"}},
		{"nothing set", func(s *Settings, _ *facts) { *s = Settings{} }, 3, []string{
			"SLACK_BOT_TOKEN: wrong: not set; fix: ", "SLACK_APP_TOKEN: wrong: not set; fix: ", "model: wrong: neither", "model: wrong: OPENAI_MODEL is not set",
		}},
		{"wrong before away", func(_ *Settings, f *facts) {
			f.redErr, f.appErr = away, &slackapp.ProbeRefused{Code: "token_revoked"}
		}, 3, nil},
		{"who may", func(s *Settings, _ *facts) {
			s.AllowedUsers, s.AllowGuests, s.AllowExternal, s.StopPolicy = append(s.AllowedUsers, "U7", "U8"), true, true, "actor"
			s.AllowedChannels = append(s.AllowedChannels, "C7")
		}, 0, []string{"who may use it: only U7,U8; of them guests too (ALLOW_GUESTS); of them people of other organisations too (ALLOW_EXTERNAL); only in C7, and in direct messages; only the person for whom it works may stop a turn"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := checked()
			c.wrong(&s, f)
			var out bytes.Buffer
			err := check(t.Context(), &out, s, nil, f.probes())
			if got := exitCode(err); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			for _, line := range c.lines {
				if !strings.Contains(out.String(), line) {
					t.Errorf("no %q in:\n%s", line, &out)
				}
			}
			for _, secret := range []string{fakeBot, fakeApp, fakeKey, "wordpass"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("a secret stands in:\n%s", &out)
				}
			}
			for line := range strings.Lines(out.String()) {
				if regexp.MustCompile(`^[^:]+: (warning|wrong|cannot be reached): `).MatchString(line) && !strings.Contains(line, "; fix: ") {
					t.Errorf("nothing says what to do: %s", line)
				}
			}
			if !strings.Contains(out.String(), "who may use it: ") {
				t.Errorf("nothing says who may use the bot:\n%s", &out)
			}
		})
	}
}

// Waiting mends no password and adds no database.
func TestRedisRefusalEndsTheStart(t *testing.T) {
	for err, code := range map[string]int{
		"write to redis: WRONGPASS invalid username-password pair": 3, "NOAUTH Authentication required.": 3, "ERR DB index is out of range": 3,
		"dial tcp: connection refused": 1, "READONLY You can't write against a read only replica.": 1,
	} {
		if got := exitCode(redisRefused(errors.New(err))); got != code {
			t.Errorf("%s: exit code %d, want %d", err, got, code)
		}
	}
	if err := redisRefused(nil); err != nil {
		t.Error(err)
	}
}

func TestDurabilityAtStart(t *testing.T) {
	for _, c := range []struct {
		policy string
		fsync  string
		warns  bool
		code   int
	}{
		{"warn", "always", false, 0}, {"warn", "everysec", true, 0}, {"warn", "", true, 0},
		{"require", "always", false, 0}, {"require", "everysec", false, 3}, {"require", "", false, 3},
		{"ignore", "no", false, 0},
	} {
		s, f := checked()
		s.RedisDurability, f.redis.AppendFsync = c.policy, c.fsync
		var out bytes.Buffer
		err := durability(newLogger(&out, "info", "text"), s, f.redis)
		if exitCode(err) != c.code || (out.Len() > 0) != c.warns {
			t.Errorf("%s with appendfsync %q: error %v, log %q", c.policy, c.fsync, err, &out)
		}
		if c.warns && !strings.Contains(out.String(), "loses the last second") {
			t.Errorf("the warning does not say what is lost: %s", &out)
		}
	}
}
