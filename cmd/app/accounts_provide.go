package app

import (
	"strings"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// providers is how a plugin provides places where people connect accounts; nil: it
// cannot, for there is no address for browsers, or no key.
func (x *extensions) providers(plugin string) plugins.Providers {
	if x.accounts == nil || x.accounts.service == nil {
		return nil
	}
	return x.accounts.service.ProvidersOf(plugin)
}

// checkedProviders is what reeve check has in their place: it says where browsers
// would come back to, and makes nothing known.
func checkedProviders(options Options, plugin string) plugins.Providers {
	variables := map[string]string{}
	for _, one := range options.Environ {
		name, value, _ := strings.Cut(one, "=")
		variables[name] = value
	}
	s, err := ParseSettings(variables)
	if err != nil || s.PublicURL == "" || s.PublicAddr == "" || !s.CredentialKeys.IsSet() {
		return nil
	}
	service, err := oauth.New(oauth.Options{PublicURL: s.PublicURL, Outbound: options.Outbound})
	if err != nil {
		return nil
	}
	return service.ProvidersOf(plugin)
}
