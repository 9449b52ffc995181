package oauth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reeve/credentials"
	"reeve/plugins/settings"
)

// Configured is a provider with what its operator has said of it.
type Configured struct {
	Provider
	ClientID     string
	ClientSecret credentials.Secret
	// AnyEmail: with the device flow the account may have another address than
	// the person has in Slack.
	AnyEmail bool
}

// set are one provider's own variables, which begin with its name in capitals.
type set struct {
	ClientID     string   `env:"CLIENT_ID"`
	ClientSecret string   `env:"CLIENT_SECRET"`
	ProviderFile string   `env:"PROVIDER_FILE"`
	Scopes       []string `env:"SCOPES"`
	AnyEmail     bool     `env:"DEVICE_ANY_EMAIL"`
}

// Setting is a variable that Load reads for each provider, behind its name.
type Setting struct{ Name, Doc string }

// SettingsOf are the variables of one provider.
func SettingsOf(provider string) []Setting {
	prefix := strings.ToUpper(provider) + "_"
	return []Setting{
		{prefix + "CLIENT_ID", "The client id of the app that is registered at the provider. Required."},
		{prefix + "CLIENT_SECRET", "Its secret. Empty: the provider knows it as a public client."},
		{prefix + "PROVIDER_FILE", "The JSON file that says what the provider is. Required for one that is not built in; for one that is, it takes its place."},
		{prefix + "SCOPES", "Scopes by comma that are asked for in place of the provider's default ones."},
		{prefix + "DEVICE_ANY_EMAIL", "true: with the device flow, the account's verified address need not be that of the person in Slack. Whoever is talked into entering a code then connects his account for another person."},
	}
}

// Wrong is a setting that cannot be used as it is, and what would help.
type Wrong struct{ What, Fix string }

func (w *Wrong) Error() string { return w.What }

// Load reads the named providers with their settings. The error joins a *Wrong for
// each of which a variable is wrong; it names that variable, a sentence a line.
func Load(names, environ []string) ([]Configured, error) {
	var all []Configured
	var wrong []error
	builtin := Builtin()
	for i, name := range names {
		if !nameForm.MatchString(name) || slices.Contains(names[:i], name) {
			wrong = append(wrong, &Wrong{fmt.Sprintf("OAUTH_PROVIDERS: %q is no name of a provider (lower-case letters, digits and '_'), or stands there twice", name),
				"name each provider there once, as docs/credentials.md writes it"})
			continue
		}
		one, err := load(name, environ, builtin)
		if err != nil {
			w, ok := errors.AsType[*Wrong](err)
			if !ok {
				w = &Wrong{err.Error(), "correct that (docs/credentials.md says what each of its settings is), or take " + name + " out of OAUTH_PROVIDERS"}
			}
			wrong = append(wrong, w)
			continue
		}
		all = append(all, one)
	}
	return all, errors.Join(wrong...)
}

func load(name string, environ []string, builtin map[string]Provider) (Configured, error) {
	var s set
	if err := settings.Read(name, environ, &s); err != nil {
		return Configured{}, err
	}
	prefix := strings.ToUpper(name) + "_"
	p, known := builtin[name]
	if s.ProviderFile != "" {
		var err error
		if p, err = ReadProvider(name, s.ProviderFile); err != nil {
			return Configured{}, fmt.Errorf("%sPROVIDER_FILE: %w", prefix, err)
		}
	} else if !known {
		return Configured{}, &Wrong{
			fmt.Sprintf("%sPROVIDER_FILE is required: %s is not built in (built in are atlassian, github, google, linear, notion, sentry)", prefix, name),
			"write the file of the provider (docs/credentials.md has an example) and set its path, or take " + name + " out of OAUTH_PROVIDERS",
		}
	}
	if s.ClientID == "" {
		return Configured{}, &Wrong{
			fmt.Sprintf("%sCLIENT_ID is required, since OAUTH_PROVIDERS names %s", prefix, name),
			fmt.Sprintf("register an app at %s and set the client id that it is given (and %sCLIENT_SECRET, unless it is a public client), or take %s out of OAUTH_PROVIDERS", p.Title, prefix, name),
		}
	}
	if strings.ContainsAny(s.ClientID+s.ClientSecret, " \t\r\n") {
		return Configured{}, fmt.Errorf("%sCLIENT_ID and %sCLIENT_SECRET may hold no white space", prefix, prefix)
	}
	if len(s.Scopes) > 0 {
		p.Scopes.Default = s.Scopes
	}
	return Configured{Provider: p, ClientID: s.ClientID, ClientSecret: credentials.NewSecret(s.ClientSecret), AnyEmail: s.AnyEmail}, nil
}

// Needs says, a sentence each, which providers cannot be used as things are.
func Needs(all []Configured, publicURL string) []error {
	var wrong []error
	for _, c := range all {
		if publicURL == "" && c.DeviceURL == "" {
			wrong = append(wrong, fmt.Errorf("%s has no device flow: its accounts can be connected only with PUBLIC_URL and PUBLIC_ADDR set", c.Title))
		}
	}
	return wrong
}

// Notes say, a sentence each, what an operator should know of his choice.
func Notes(all []Configured, publicURL string) []string {
	var notes []string
	for _, c := range all {
		switch {
		case publicURL != "":
			notes = append(notes, fmt.Sprintf("%s: people connect by a link; the callback to register there is %s", c.Title, callbackURL(publicURL, c.Name)))
		case c.DeviceURL != "" && c.AnyEmail:
			notes = append(notes, fmt.Sprintf("%s: people connect by entering a code there, with whatever account (%s_DEVICE_ANY_EMAIL)", c.Title, strings.ToUpper(c.Name)))
		case c.DeviceURL != "":
			notes = append(notes, fmt.Sprintf("%s: people connect by entering a code there, with an account of their address in Slack", c.Title))
		}
		if c.Revoke.URL == "" {
			notes = append(notes, fmt.Sprintf("%s: a token cannot be revoked there by an app; disconnecting forgets it here", c.Title))
		}
	}
	return notes
}

func callbackURL(public, provider string) string {
	return strings.TrimSuffix(public, "/") + "/callback/" + provider
}
