package app

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
)

// providers is how a plugin provides places where people connect accounts; nil: it
// cannot, for there is no address for browsers, or no key.
func (x *extensions) providers(plugin string) plugins.Providers {
	if x.accounts == nil || x.accounts.service == nil || x.accounts.service.Callback(plugin) == "" {
		return nil
	}
	return provided{plugin, x.accounts.service}
}

// provided implements plugins.Providers for one plugin.
type provided struct {
	plugin  string
	service *oauth.Service
}

func (p provided) own(name string) bool { return strings.HasPrefix(name, p.plugin+"_") }

func (p provided) Callback(name string) string { return p.service.Callback(name) }

func (p provided) Provide(of plugins.Provider) error {
	if !p.own(of.Name) {
		return fmt.Errorf("provider %s: the plugin %s has those alone that begin with %s_", of.Name, p.plugin, p.plugin)
	}
	c, err := configured(of)
	if err != nil {
		return err
	}
	return p.service.Provide(c)
}

func (p provided) Withdraw(name string) {
	if p.own(name) {
		p.service.Withdraw(name)
	}
}

// configured is a plugin's provider in the words of OAuth: one address, to whose
// host alone its tokens go.
func configured(of plugins.Provider) (oauth.Configured, error) {
	server, err := url.Parse(of.URL)
	if err != nil || server.Hostname() == "" {
		return oauth.Configured{}, fmt.Errorf("provider %s: want an address", of.Name)
	}
	style := "params"
	if of.ClientInHeader {
		style = "header"
	}
	return oauth.Configured{
		Provider: oauth.Provider{
			Name: of.Name, Title: of.Title, AuthURL: of.AuthURL, TokenURL: of.TokenURL, IntrospectURL: of.IntrospectURL,
			Revoke: oauth.Revoke{URL: of.RevokeURL}, Scopes: oauth.Scopes{Default: of.Scopes},
			Hosts: []string{server.Hostname()}, ReadPOST: []oauth.ReadPOST{{Path: cmp.Or(server.EscapedPath(), "/"), MCP: true}}, AuthStyle: style,
			PKCE: true, Issuer: of.Issuer, RequireIssuer: of.RequireIssuer, Resource: of.Resource,
		},
		ClientID: of.ClientID, ClientSecret: credentials.NewSecret(of.ClientSecret),
	}, nil
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
	if err != nil || s.PublicURL == "" || !s.CredentialKeys.IsSet() {
		return nil
	}
	service, err := oauth.New(oauth.Options{PublicURL: s.PublicURL, Outbound: options.Outbound})
	if err != nil {
		return nil
	}
	return provided{plugin, service}
}
