package app

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// mask stands wherever a secret would.
const mask = "***"

// Secret is a setting that must not be shown. It prints as a mask in every
// format; only Reveal gives the value. The value stands behind a pointer
// because fmt does not ask methods about the unexported fields of a struct: a
// bare string there would be printed.
type Secret struct{ value *string }

// NewSecret hides a value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal is the value itself, to be handed to the one client that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != nil }

func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return mask
}

// Format answers every verb of fmt, %#v and %x among them, with the mask.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, s.String()) }

func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// tokenKinds are the beginnings of tokens that may be shown: they say which
// kind of token somebody has put where, and nothing of its value.
var tokenKinds = []struct{ prefix, name, belongs string }{
	{"xapp-", "an app-level token", "SLACK_APP_TOKEN"},
	{"xoxb-", "a bot token", "SLACK_BOT_TOKEN"},
	{"xoxp-", "a user token, which Reeve does not use", ""},
	{"xoxe", "a rotating or configuration token, which Reeve does not use", ""},
	{"sk-", "a model provider's key", "OPENAI_API_KEY"},
}

// masked describes a secret value that was found wrong, without showing it.
func masked(value string) string {
	shown := mask
	for _, kind := range tokenKinds {
		if strings.HasPrefix(value, kind.prefix) {
			shown = kind.prefix + mask
			break
		}
	}
	return fmt.Sprintf("%s (%d characters)", shown, len(value))
}

// shownURL is a URL without what may be secret in it: the password, the whole
// user part where there is no password, and the query. What is no URL is
// masked altogether.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return masked(raw)
	}
	shown := u.Host + u.Path
	if u.User != nil {
		shown = mask + "@" + shown
	}
	if u.RawQuery != "" {
		shown += "?" + mask
	}
	if u.Scheme != "" {
		shown = u.Scheme + "://" + shown
	}
	return shown
}
