package app

import (
	"fmt"
	"net/url"
	"strings"

	"reeve/credentials"
)

// mask stands wherever a secret would.
const mask = "***"

// Secret is a setting that must not be shown: unlike another secret it can be
// read, from what an operator has set.
type Secret struct{ credentials.Secret }

// NewSecret hides a value.
func NewSecret(value string) Secret { return Secret{credentials.NewSecret(value)} }

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
