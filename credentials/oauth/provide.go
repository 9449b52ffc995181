package oauth

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"reeve/credentials"
	"reeve/plugins"
)

// Provide makes a provider known while the service runs, in the place of an
// earlier one of its name. Those of Options stay as they are.
func (s *Service) Provide(c Configured) error {
	c.Provider = c.withDefaults()
	if err := c.check(len(s.o.Outbound.Allow) > 0); err != nil {
		return fmt.Errorf("provider %s: %w", c.Name, err)
	}
	if c.ClientID == "" {
		return fmt.Errorf("provider %s: it has no client id", c.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fixed[c.Name] {
		return fmt.Errorf("provider %s: %w", c.Name, errFixed)
	}
	s.providers[c.Name] = c
	s.nudge()
	return nil
}

var errFixed = errors.New("it is one of OAUTH_PROVIDERS")

// Withdraw takes out what Provide has made known. People's accounts there stay,
// and are used again when it is known again.
func (s *Service) Withdraw(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed[name] {
		delete(s.providers, name)
	}
}

// provider finds one by its name.
func (s *Service) provider(name string) (Configured, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.providers[name]
	return c, ok
}

// none reports whether there is no provider.
func (s *Service) none() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.providers) == 0
}

// ProvidersOf is how a plugin provides places where people connect accounts: those
// alone whose names begin with its own. Nil: it cannot, for there is no PUBLIC_URL.
func (s *Service) ProvidersOf(plugin string) plugins.Providers {
	if s.o.PublicURL == "" {
		return nil
	}
	return provided{plugin, s}
}

type provided struct {
	plugin  string
	service *Service
}

func (p provided) own(name string) bool { return strings.HasPrefix(name, p.plugin+"_") }

// Callback implements plugins.Providers.
func (p provided) Callback(name string) string { return callbackURL(p.service.o.PublicURL, name) }

// Client implements plugins.Providers.
func (p provided) Client(name string) string { return p.service.clientURL(name) }

// Provide implements plugins.Providers.
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

// Withdraw implements plugins.Providers.
func (p provided) Withdraw(name string) {
	if p.own(name) {
		p.service.Withdraw(name)
	}
}

// configured is a plugin's provider: one address, to whose host alone its tokens go.
func configured(of plugins.Provider) (Configured, error) {
	server, err := url.Parse(of.URL)
	if err != nil || server.Hostname() == "" {
		return Configured{}, fmt.Errorf("provider %s: want an address", of.Name)
	}
	style := "params"
	if of.ClientInHeader && of.ClientSecret != "" {
		style = "header"
	}
	return Configured{
		Provider: Provider{
			Name: of.Name, Title: of.Title, AuthURL: of.AuthURL, TokenURL: of.TokenURL, IntrospectURL: of.IntrospectURL,
			Revoke: Revoke{URL: of.RevokeURL}, Scopes: Scopes{Default: of.Scopes},
			Hosts: []string{server.Hostname()}, ReadPOST: []ReadPOST{{Path: cmp.Or(server.EscapedPath(), "/"), MCP: true}}, AuthStyle: style,
			PKCE: true, Issuer: of.Issuer, RequireIssuer: of.RequireIssuer, Resource: of.Resource, Try: of.URL,
		},
		ClientID: of.ClientID, ClientSecret: credentials.NewSecret(of.ClientSecret),
	}, nil
}
