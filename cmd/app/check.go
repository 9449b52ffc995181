package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"reeve/agent/openai"
	"reeve/credentials"
	"reeve/slackapp"
)

type checkCommand struct{}

// checkError is the exit code of a check that found something; all is printed
// already.
type checkError int

func (e checkError) Error() string { return "check: exit code " + strconv.Itoa(int(e)) }

// result is how a test ended, worst last.
type result int

const (
	passed      result = iota
	warned             // works, and something is lost
	unreachable        // exit code 4
	wrong              // exit code 3
)

// finding is one line of the report.
type finding struct {
	test   string
	result result
	detail string
	fix    string
}

func (f finding) String() string {
	line := f.test + ": " + [...]string{"ok", "warning", "cannot be reached", "wrong"}[f.result]
	if f.detail != "" {
		line += ": " + f.detail
	}
	if f.fix != "" {
		line += "; fix: " + f.fix
	}
	return line
}

// probes are the tests that leave the machine. Each is made by the package
// that owns the client.
type probes struct {
	bot   func(ctx context.Context, apiURL, token string) (slackapp.BotFacts, error)
	app   func(ctx context.Context, apiURL, token string) error
	redis func(ctx context.Context, url string) (redisFacts, error)
	model func(ctx context.Context, baseURL, key, model string) error
	// keys compares CREDENTIAL_KEYS with what is sealed in Redis; nil: it is not asked.
	keys func(ctx context.Context, s Settings) ([]credentials.KeyUse, error)
	// accounts says whether people could connect any; nil: it is not asked.
	accounts func(s Settings) []finding
	// plugins are asked what they say of themselves; nil: there are none.
	plugins func(ctx context.Context) []finding
}

// redisFacts are what a Redis says of itself. An empty setting was not told.
type redisFacts struct {
	Version                                  string
	AppendOnly, AppendFsync, MaxmemoryPolicy string
	Writable                                 bool
}

func (checkCommand) Run(p *process) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	out := redactedWriter{p.options.Stdout, newRedactor(p.secrets...)}
	for _, f := range checkDotenv(p.options.Dotenv, settings.OAuthProviders, p.plugins) {
		_, _ = fmt.Fprintln(out, f)
	}
	chosen, err := choose(p.plugins, settings.Plugins)
	ask := shippedProbes()
	ask.keys = probeKeys
	ask.accounts = func(s Settings) []finding { return checkAccounts(s, p.options.Environ) }
	ask.plugins = func(ctx context.Context) []finding {
		if err != nil {
			return nil // which plugins are on is not known
		}
		return append(checkIdle(p.options.Environ, settings.OAuthProviders, chosen), checkPlugins(ctx, chosen, settings, p.options)...)
	}
	return check(p.ctx, out, settings, err, ask)
}

// check prints every finding, and then who may use the bot.
func check(ctx context.Context, out io.Writer, s Settings, settingsErr error, ask probes) error {
	worst := passed
	say := func(findings ...finding) {
		for _, f := range findings {
			_, _ = fmt.Fprintln(out, f)
			worst = max(worst, f.result)
		}
	}
	if settingsErr != nil {
		say(finding{"settings", wrong, settingsErr.Error(), "take the name out of PLUGINS, or use a binary into which that plugin is compiled"})
	} else {
		say(finding{test: "settings", detail: "every value is one that may be"})
	}
	say(checkBot(ctx, s, ask.bot)...)
	say(checkApp(ctx, s, ask.app))
	say(checkRedis(ctx, s, ask.redis)...)
	say(checkKeys(ctx, s, ask.keys)...)
	if ask.accounts != nil {
		say(ask.accounts(s)...)
	}
	say(checkModel(ctx, s, ask.model)...)
	if ask.plugins != nil {
		say(ask.plugins(ctx)...)
	}
	_, _ = fmt.Fprintln(out, "who may use it: "+whoMay(s))
	switch worst {
	case wrong:
		return checkError(ExitConfiguration)
	case unreachable:
		return checkError(ExitUnreachable)
	}
	return nil
}

func checkBot(ctx context.Context, s Settings, ask func(context.Context, string, string) (slackapp.BotFacts, error)) []finding {
	const test = "SLACK_BOT_TOKEN"
	if !s.SlackBotToken.IsSet() {
		return []finding{{test, wrong, "not set", "copy the Bot User OAuth Token from Install App in the app's settings"}}
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	bot, err := ask(ctx, s.SlackAPIURL, s.SlackBotToken.Reveal())
	if err != nil {
		return []finding{slackFinding(test, err, "install the app and copy the Bot User OAuth Token from Install App in its settings")}
	}
	found := []finding{{test: test, detail: fmt.Sprintf("%s (%s) in %s (%s)", bot.Name, bot.User, bot.TeamName, bot.Team)}}
	if bot.Bot == "" {
		found[0] = finding{test, wrong, "it is not the token of a bot", "copy the Bot User OAuth Token, not a user's"}
	}
	missing, more := compareScopes(bot.Scopes)
	scopes := finding{test: "Slack scopes", detail: "all that are needed"}
	switch {
	case len(bot.Scopes) == 0:
		scopes = finding{"Slack scopes", warned, "Slack did not say which the token has", "compare them with reeve manifest"}
	case len(missing) > 0:
		scopes = finding{"Slack scopes", wrong, "missing " + strings.Join(missing, ", "), "paste the output of reeve manifest under App Manifest in the app's settings, and reinstall the app"}
	case len(more) > 0:
		scopes.detail += "; not needed: " + strings.Join(more, ", ")
	}
	return append(found, scopes)
}

func checkApp(ctx context.Context, s Settings, ask func(context.Context, string, string) error) finding {
	const test = "SLACK_APP_TOKEN"
	const fix = "make an app-level token with the scope connections:write under Basic Information in the app's settings"
	if !s.SlackAppToken.IsSet() {
		return finding{test, wrong, "not set", fix}
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := ask(ctx, s.SlackAPIURL, s.SlackAppToken.Reveal()); err != nil {
		return slackFinding(test, err, fix)
	}
	return finding{test: test, detail: "it opens sockets"}
}

func slackFinding(test string, err error, fix string) finding {
	var refused *slackapp.ProbeRefused
	if errors.As(err, &refused) {
		switch refused.Code {
		case "missing_scope":
			return finding{test, wrong, "Slack says missing_scope", fix}
		case "forbidden_team", "org_login_required", "ekm_access_denied", "access_denied":
			return finding{test, wrong, "Slack says " + refused.Code, "ask an administrator of the workspace to allow the app"}
		}
		return finding{test, wrong, "Slack says " + refused.Code, fix}
	}
	return finding{test, unreachable, err.Error(), "see that this machine reaches " + "SLACK_API_URL (https://slack.com unless it is set), through a proxy if there is one"}
}

func checkModel(ctx context.Context, s Settings, ask func(context.Context, string, string, string) error) []finding {
	const test = "model"
	var missing []finding
	if !s.UsesModel() {
		missing = append(missing, finding{test, wrong, "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set", "set the key of your provider, or the URL of a model server"})
	}
	if s.OpenAIModel == "" {
		missing = append(missing, finding{test, wrong, "OPENAI_MODEL is not set", "set it to a model's name as its provider writes it"})
	}
	if len(missing) > 0 {
		return missing
	}
	// A local server may have to load the model first.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return []finding{modelFinding(test, s.OpenAIModel, ask(ctx, s.OpenAIBaseURL, s.OpenAIAPIKey.Reveal(), s.OpenAIModel))}
}

func modelFinding(test, model string, err error) finding {
	var refused *openai.ProbeRefused
	switch {
	case err == nil:
		return finding{test: test, detail: model + " answers"}
	case !errors.As(err, &refused):
		return finding{test, unreachable, err.Error(), "see that OPENAI_BASE_URL is right, ends before /chat/completions (often in /v1), and can be reached from this machine"}
	case refused.Status == 401 || refused.Status == 403:
		return finding{test, wrong, refused.Error(), "set OPENAI_API_KEY to a key of this provider that may use " + model}
	case refused.Status == 404:
		return finding{test, wrong, refused.Error(), "see that OPENAI_MODEL is a model of this provider, and that OPENAI_BASE_URL ends before /chat/completions (often in /v1)"}
	case refused.Status == 429:
		return finding{test, unreachable, refused.Error(), "wait, or raise the limit or the balance at the provider"}
	case refused.Status >= 500:
		return finding{test, unreachable, refused.Error(), "try again later; the fault is the provider's"}
	}
	return finding{test, wrong, refused.Error(), "see that OPENAI_MODEL is a chat model that can stream"}
}

// whoMay says in a sentence whom the bot lets instruct it.
func whoMay(s Settings) string {
	// A list of people narrows whoever else is let in too.
	people, among := "every member of the workspace", ""
	if len(s.AllowedUsers) > 0 {
		people, among = "only "+allowed(s.AllowedUsers), "of them "
	}
	clauses := []string{people}
	if s.AllowGuests {
		clauses = append(clauses, among+"guests too (ALLOW_GUESTS)")
	} else {
		clauses = append(clauses, "no guests")
	}
	if s.AllowExternal {
		clauses = append(clauses, among+"people of other organisations too (ALLOW_EXTERNAL)")
	} else {
		clauses = append(clauses, "nobody of another organisation")
	}
	where := "in every channel that the bot is in, and in direct messages"
	if len(s.AllowedChannels) > 0 {
		where = "only in " + allowed(s.AllowedChannels) + ", and in direct messages"
	}
	stop := "whoever may speak to it may stop a turn"
	if s.StopPolicy == "actor" {
		stop = "only the person for whom it works may stop a turn"
	}
	return strings.Join(append(clauses, where, stop), "; ")
}
