package app

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/runtime/chat"
)

func TestDefaults(t *testing.T) {
	s, err := ParseSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%+v", s)
	want := fmt.Sprintf("%+v", Settings{
		SlackAPIURL: "https://slack.com/api/", SlackSockets: 2,
		RedisPrefix: "reeve", RedisDurability: "warn",
		CrossActorMidRunMode: "follow_up", SameActorMidRunMode: "steer",
		StopPolicy: "anyone", StopReaction: "octagonal_sign",
		MultiActorWrites: "ask", WriteConsent: "foreign", ConsentTimeout: time.Hour,
		MaxWaitingMessages: 50, MaxAttempts: 5, MaxSteps: 50, MaxRunningTurns: 500,
		MaxTurnTokens: 200000, ContextTokens: 100000, TurnTimeout: 15 * time.Minute,
		ShutdownGrace: 10 * time.Second, RetentionDays: 30, AuditDays: 365,
		MemoryExtraction: "on", LogLevel: "info",
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// samples are values of every setting that it may and may not have.
func samples(t *testing.T) (good, bad map[string][]string) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	address := []string{":8080", "127.0.0.1:0", "[::1]:80", "host:65535"}
	noAddress := []string{"8080", "host", "host:port", "host:70000", "http://host:80"}
	number := func(low, high int) ([]string, []string) {
		return []string{fmt.Sprint(low), fmt.Sprint(high)}, []string{fmt.Sprint(low - 1), fmt.Sprint(high + 1), "many", "1.5", "10k"}
	}
	good, bad = map[string][]string{
		"SLACK_APP_TOKEN":          {fakeApp},
		"SLACK_BOT_TOKEN":          {fakeBot},
		"SLACK_API_URL":            {"http://127.0.0.1:9/api/", "http://[::1]:9", "https://slack-gov.com/api/"},
		"OPENAI_API_KEY":           {fakeKey, "x"},
		"OPENAI_BASE_URL":          {"http://ollama:11434/v1", "https://user:pass@host/v1/"},
		"OPENAI_MODEL":             {"gpt-x", "org/model:7b"},
		"ROUTER_MODEL":             {"gpt-x"},
		"EMBEDDING_MODEL":          {"embed"},
		"REDIS_URL":                {"redis://localhost", "redis://:pw@h:6379/15?dial_timeout=3s", "rediss://u:p@h:1/0", "redis+sentinel://u:p@h1,h2:26379/master", "redis+cluster://h1:1,h2"},
		"REDIS_PREFIX":             {"bot-1.test_a"},
		"REDIS_DURABILITY":         {"warn", "require", "ignore"},
		"CROSS_ACTOR_MID_RUN_MODE": {"follow_up", "steer", "router"},
		"SAME_ACTOR_MID_RUN_MODE":  {"follow_up", "steer"},
		"STOP_POLICY":              {"anyone", "actor"},
		"STOP_REACTION":            {"octagonal_sign", "+1"},
		"MULTI_ACTOR_WRITES":       {"ask", "block"},
		"WRITE_CONSENT":            {"foreign", "always", "conflict"},
		"CONSENT_TIMEOUT":          {"1s", "168h", "1h30m"},
		"ALLOW_EXTERNAL":           {"true", "false"},
		"ALLOW_GUESTS":             {"true", "false"},
		"ALLOWED_CHANNELS":         {"C024BE91L", "C1A, G1A ,D1A"},
		"ALLOWED_USERS":            {"U024BE7LH", "U1A,W1A,"},
		"TURN_TIMEOUT":             {"1s", "24h"},
		"SHUTDOWN_GRACE":           {"1s", "5m"},
		"HTTP_ADDR":                address,
		"PUBLIC_ADDR":              address,
		"PUBLIC_URL":               {"https://bot.example.com", "http://localhost:8080/x"},
		"CREDENTIAL_KEYS":          {"1:" + key, "2:" + key + ", 1:" + key},
		"MCP_CONFIG":               {file},
		"OAUTH_PROVIDERS":          {"github", "github, google_2"},
		"PLUGINS":                  {"clock", "clock,echo"},
		"MEMORY_EXTRACTION":        {"on", "off"},
		"LOG_LEVEL":                {"debug", "info", "warn", "error"},
		"LOG_FORMAT":               {"text", "json"},
	}, map[string][]string{
		"SLACK_APP_TOKEN":          {"xapp-", fakeBot, "token", fakeApp + "\n", "xapp-1 2"},
		"SLACK_BOT_TOKEN":          {"xoxb-", fakeApp, fakeUser, fakeRotate, "x", fakeBot + " "},
		"SLACK_API_URL":            {"slack.com", "http://slack.com/api/", "ftp://127.0.0.1/", "https://u:p@slack.com/api/", "https://slack.com/api/?a=b"},
		"OPENAI_API_KEY":           {fakeKey + "\n", "two words"},
		"OPENAI_BASE_URL":          {"localhost:11434", "https://", "file:///v1", "https://host/v1?key=1"},
		"OPENAI_MODEL":             {" gpt", "gpt\n"},
		"ROUTER_MODEL":             {" gpt"},
		"EMBEDDING_MODEL":          {"embed "},
		"REDIS_URL":                {"localhost:6379", "redis://", "redis://h1,h2", "redis://:6379", "redis://h/name", "redis+sentinel://h1,h2", "redis+sentinel://h1,,h2/m", "redis+cluster://", "redis+cluster://h/1", "redis+cluster://h?a=b", "redis://u:p#w@h", "http://h"},
		"REDIS_PREFIX":             {"a:b", "{a}", "a b", strings.Repeat("a", 33)},
		"REDIS_DURABILITY":         {"Warn", "no"},
		"CROSS_ACTOR_MID_RUN_MODE": {"Router", "follow-up", "STEER"},
		"SAME_ACTOR_MID_RUN_MODE":  {"router", "wait"},
		"STOP_POLICY":              {"all"},
		"STOP_REACTION":            {":octagonal_sign:", "Stop sign"},
		"MULTI_ACTOR_WRITES":       {"allow"},
		"WRITE_CONSENT":            {"never"},
		"CONSENT_TIMEOUT":          {"60", "500ms", "169h", "-1h"},
		"ALLOW_EXTERNAL":           {"yes", "2"},
		"ALLOW_GUESTS":             {"on", "nein"},
		"ALLOWED_CHANNELS":         {"#general", "general", "U024BE7LH", ",", " ", "C1A C2A"},
		"ALLOWED_USERS":            {"@alice", "alice", "C024BE91L", ",,", "U1A;U2A"},
		"TURN_TIMEOUT":             {"0", "25h", "15"},
		"SHUTDOWN_GRACE":           {"0s", "-1s", "6m"},
		"HTTP_ADDR":                noAddress,
		"PUBLIC_ADDR":              noAddress,
		"PUBLIC_URL":               {"http://bot.example.com", "bot.example.com"},
		"CREDENTIAL_KEYS":          {key, "1:short", "1:" + key + ",1:" + key, "1:" + key + ","},
		"MCP_CONFIG":               {file + ".none", filepath.Dir(file)},
		"OAUTH_PROVIDERS":          {"GitHub", "a b"},
		"PLUGINS":                  {"Clock", ","},
		"MEMORY_EXTRACTION":        {"true"},
		"LOG_LEVEL":                {"trace", "INFO"},
		"LOG_FORMAT":               {"xml"},
	}
	for name, bounds := range map[string][2]int{
		"SLACK_SOCKETS": {1, 2}, "MAX_WAITING_MESSAGES": {1, 1000}, "MAX_ATTEMPTS": {1, 100}, "MAX_STEPS": {1, 1000},
		"MAX_RUNNING_TURNS": {1, 10000}, "MAX_TURN_TOKENS": {1000, 100000000}, "CONTEXT_TOKENS": {1000, 10000000},
		"DAILY_TOKENS_PER_PERSON": {0, 1000000000}, "RETENTION_DAYS": {1, 3650}, "AUDIT_DAYS": {1, 3650},
	} {
		good[name], bad[name] = number(bounds[0], bounds[1])
	}
	return good, bad
}

func TestEverySettingTakesAndRefuses(t *testing.T) {
	good, bad := samples(t)
	for _, s := range settingsList() {
		if len(good[s.Name]) == 0 || len(bad[s.Name]) == 0 {
			t.Errorf("%s has no samples", s.Name)
		}
		for _, value := range good[s.Name] {
			if _, err := ParseSettings(map[string]string{s.Name: value}); err != nil {
				t.Errorf("%s=%q is refused: %v", s.Name, value, err)
			}
		}
		for _, value := range bad[s.Name] {
			_, err := ParseSettings(map[string]string{s.Name: value})
			var config *ConfigError
			if !errors.As(err, &config) || len(config.Problems) != 1 {
				t.Errorf("%s=%q gives %v, want one problem", s.Name, value, err)
				continue
			}
			line := config.Problems[0]
			if !strings.HasPrefix(line, s.Name+" is ") || !strings.Contains(line, s.MayBe()) {
				t.Errorf("%s=%q gives a line without its name or what it may be: %s", s.Name, value, line)
			}
			if s.Secret && len(value) > 6 && strings.Contains(line, value[5:]) {
				t.Errorf("%s: the line shows the value: %s", s.Name, line)
			}
		}
	}
}

func TestAllWrongValuesAtOnce(t *testing.T) {
	_, bad := samples(t)
	variables := map[string]string{}
	for name, values := range bad {
		variables[name] = values[0]
	}
	_, err := ParseSettings(variables)
	var config *ConfigError
	if !errors.As(err, &config) {
		t.Fatal(err)
	}
	for _, s := range settingsList() {
		if !slices.ContainsFunc(config.Problems, func(line string) bool { return strings.HasPrefix(line, s.Name+" is ") }) {
			t.Errorf("no line for %s=%q", s.Name, variables[s.Name])
		}
	}
}

func TestWrongLines(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"SLACK_APP_TOKEN", fakeBot, fmt.Sprintf("SLACK_APP_TOKEN is xoxb-*** (%d characters); it may be an app-level token, which begins with xapp- (this looks like a bot token; it belongs in SLACK_BOT_TOKEN)", len(fakeBot))},
		{"SLACK_BOT_TOKEN", "hunter2", "SLACK_BOT_TOKEN is *** (7 characters); it may be a bot token, which begins with xoxb-"},
		{"CROSS_ACTOR_MID_RUN_MODE", "ask", `CROSS_ACTOR_MID_RUN_MODE is "ask"; it may be follow_up, steer or router`},
		{"REDIS_DURABILITY", "x", `REDIS_DURABILITY is "x"; it may be warn, require or ignore`},
		{"TURN_TIMEOUT", "15", `TURN_TIMEOUT is "15"; it may be a duration such as 90s, 15m or 1h30m, from 1s to 24h`},
		{"MAX_STEPS", "0", `MAX_STEPS is "0"; it may be a whole number from 1 to 1000`},
	} {
		_, err := ParseSettings(map[string]string{c.name: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestWrongRedisURLKeepsItsPassword(t *testing.T) {
	_, err := ParseSettings(map[string]string{"REDIS_URL": "redis://u:" + "secretword@h1,h2"})
	if err == nil || !strings.HasPrefix(err.Error(), "REDIS_URL is redis://***@h1,h2; ") || strings.Contains(err.Error(), "secretword") {
		t.Errorf("got %v", err)
	}
}

func TestListsAreTidied(t *testing.T) {
	s, err := ParseSettings(map[string]string{"ALLOWED_USERS": " U1A,, U2A ,U1A", "ALLOWED_CHANNELS": "C1A"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]chat.UserID{"U1A", "U2A"}, s.AllowedUsers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]chat.ChannelID{"C1A"}, s.AllowedChannels); diff != "" {
		t.Error(diff)
	}
}

func TestURLsAreMadeWhole(t *testing.T) {
	s, err := ParseSettings(map[string]string{"SLACK_API_URL": "http://127.0.0.1:9/api", "OPENAI_BASE_URL": "http://h/v1/"})
	if err != nil || s.SlackAPIURL != "http://127.0.0.1:9/api/" || s.OpenAIBaseURL != "http://h/v1" {
		t.Errorf("%q %q %v", s.SlackAPIURL, s.OpenAIBaseURL, err)
	}
}

func TestWhatRunNeeds(t *testing.T) {
	parse := func(pairs ...string) Settings {
		variables := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			variables[pairs[i]] = pairs[i+1]
		}
		s, err := ParseSettings(variables)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	all := []string{"SLACK_APP_TOKEN", fakeApp, "SLACK_BOT_TOKEN", fakeBot, "OPENAI_MODEL", "m", "OPENAI_BASE_URL", "http://h"}
	if err := parse(all...).ForRun(); err != nil {
		t.Error(err)
	}
	err := parse().ForRun()
	for _, name := range []string{"SLACK_APP_TOKEN", "SLACK_BOT_TOKEN", "OPENAI_MODEL", "OPENAI_API_KEY"} {
		if err == nil || !strings.Contains(err.Error(), name+" is not set") {
			t.Errorf("%s is not asked for: %v", name, err)
		}
	}
	if err := parse().ForPlayground(); err != nil {
		t.Errorf("the playground asks for something: %v", err)
	}
	if err := parse("OPENAI_API_KEY", "k").ForPlayground(); err == nil {
		t.Error("a key without a model is taken")
	}
}

func TestSecretsAreListedForTheLog(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	s, err := ParseSettings(map[string]string{
		"SLACK_APP_TOKEN": fakeApp, "SLACK_BOT_TOKEN": fakeBot, "OPENAI_API_KEY": "model-key", "CREDENTIAL_KEYS": "1:" + key,
		"REDIS_URL": "redis://u:p%40ss@h", "OPENAI_BASE_URL": "https://u:other@h/v1",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fakeApp, fakeBot, "model-key", key, "p%40ss", "p@ss", "other"} {
		if !slices.Contains(s.secrets(), want) {
			t.Errorf("%q is not among the secrets", want)
		}
	}
}
