package app

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// ConfigError lists everything that is wrong with the settings, a line each.
// It ends the process with exit code 3.
type ConfigError struct{ Problems []string }

func (e *ConfigError) Error() string { return strings.Join(e.Problems, "\n") }

// setting is one field of Settings and what its tags say of it.
type setting struct {
	Name, Default, Doc, Group string
	Field                     string
	Later, Secret             bool
	tag                       reflect.StructTag
	kind                      reflect.Type
}

// settingsList is every setting, in the order of the struct.
func settingsList() []setting {
	var list []setting
	for f := range reflect.TypeFor[Settings]().Fields() {
		list = append(list, setting{
			Name: f.Tag.Get("env"), Default: f.Tag.Get("envDefault"), Doc: f.Tag.Get("doc"), Group: f.Tag.Get("group"),
			Field: f.Name, Later: f.Tag.Get("later") != "", Secret: f.Type == reflect.TypeFor[Secret](),
			tag: f.Tag, kind: f.Type,
		})
	}
	return list
}

// MayBe says in words what the setting may be.
func (s setting) MayBe() string {
	low, high := s.tag.Get("min"), s.tag.Get("max")
	switch {
	case s.tag.Get("may") != "":
		return s.tag.Get("may")
	case s.tag.Get("one") != "":
		words := strings.Fields(s.tag.Get("one"))
		last := len(words) - 1
		return strings.Join(words[:last], ", ") + " or " + words[last]
	case s.kind == reflect.TypeFor[time.Duration]():
		return "a duration such as 90s, 15m or 1h30m, from " + low + " to " + high
	case s.kind.Kind() == reflect.Int:
		return "a whole number from " + low + " to " + high
	default:
		return "true or false"
	}
}

// wrong is the line that tells of a value that the setting may not have.
func (s setting) wrong(value, hint string) string {
	switch {
	case s.Secret:
		value = masked(value)
	case s.tag.Get("secret") == "url":
		value = shownURL(value)
	default:
		value = strconv.Quote(value)
	}
	line := fmt.Sprintf("%s is %s; it may be %s", s.Name, value, s.MayBe())
	if hint != "" {
		line += " (" + hint + ")"
	}
	return line
}

// ParseSettings reads the settings from variables. An empty variable counts as
// not set. The error is a *ConfigError that names every wrong value.
func ParseSettings(variables map[string]string) (Settings, error) {
	var parsed Settings
	list := settingsList()
	set := map[string]string{}
	for _, s := range list {
		if value := variables[s.Name]; value != "" {
			set[s.Name] = value
		}
	}
	unread := map[string]bool{}
	err := env.ParseWithOptions(&parsed, env.Options{Environment: maps.Clone(set)})
	var all env.AggregateError
	switch {
	case errors.As(err, &all):
		for _, err := range all.Errors {
			var one env.ParseError
			if !errors.As(err, &one) {
				return Settings{}, fmt.Errorf("parse settings: %w", err)
			}
			unread[one.Name] = true
		}
	case err != nil:
		return Settings{}, fmt.Errorf("parse settings: %w", err)
	}

	var problems []string
	fields := reflect.ValueOf(&parsed).Elem()
	for _, s := range list {
		value, isSet := set[s.Name]
		switch {
		case !isSet:
		case unread[s.Field]:
			problems = append(problems, s.wrong(value, ""))
		default:
			if ok, hint := s.check(fields.FieldByName(s.Field), value); !ok {
				problems = append(problems, s.wrong(value, hint))
			}
		}
	}
	if parsed.PublicAddr != "" && parsed.PublicAddr == parsed.HTTPAddr {
		problems = append(problems, "PUBLIC_ADDR is that of HTTP_ADDR; health must not be served where callbacks are")
	}
	if len(problems) > 0 {
		return Settings{}, &ConfigError{problems}
	}
	if !strings.HasSuffix(parsed.SlackAPIURL, "/") {
		parsed.SlackAPIURL += "/"
	}
	parsed.OpenAIBaseURL = strings.TrimSuffix(parsed.OpenAIBaseURL, "/")
	return parsed, nil
}

// ForRun names what run cannot do without.
func (s Settings) ForRun() error {
	var missing []string
	need := func(set bool, line string) {
		if !set {
			missing = append(missing, line)
		}
	}
	need(s.SlackAppToken.IsSet(), "SLACK_APP_TOKEN is not set; it may be an app-level token (Basic Information > App-Level Tokens in the app's settings)")
	need(s.SlackBotToken.IsSet(), "SLACK_BOT_TOKEN is not set; it may be a bot token (Install App in the app's settings)")
	need(s.OpenAIModel != "", "OPENAI_MODEL is not set; it may be a model's name as its provider writes it")
	need(s.UsesModel(), "OPENAI_API_KEY is not set, and neither is OPENAI_BASE_URL; one of them is needed")
	if len(missing) > 0 {
		return &ConfigError{missing}
	}
	return nil
}

// UsesModel reports whether a model's provider is configured. Without one the
// playground answers with a scripted demo model.
func (s Settings) UsesModel() bool { return s.OpenAIAPIKey.IsSet() || s.OpenAIBaseURL != "" }

// ForPlayground names what the playground cannot do without.
func (s Settings) ForPlayground() error {
	if s.UsesModel() && s.OpenAIModel == "" {
		return &ConfigError{[]string{"OPENAI_MODEL is not set, while OPENAI_API_KEY or OPENAI_BASE_URL is; it may be a model's name as its provider writes it (unset all three to use the demo model)"}}
	}
	return nil
}

// secrets are the values that no log may show.
func (s Settings) secrets() []string {
	values := []string{s.SlackAppToken.Reveal(), s.SlackBotToken.Reveal(), s.OpenAIAPIKey.Reveal(), s.CredentialKeys.Reveal()}
	for _, raw := range []string{s.RedisURL, s.OpenAIBaseURL} {
		values = append(values, passwordOf(raw)...)
	}
	for _, key := range strings.Split(s.CredentialKeys.Reveal(), ",") {
		_, value, _ := strings.Cut(key, ":")
		values = append(values, value)
	}
	return slices.DeleteFunc(values, func(v string) bool { return v == "" })
}
