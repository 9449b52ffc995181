package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"reeve/plugins"
)

// clientURL is the bot's client id at an issuer that reads there what it is: then
// there is nothing to register.
func (s *server) clientURL(f found) string {
	methods := f.issuer.TokenEndpointAuthMethodsSupported
	if !f.issuer.ClientIDMetadataDocumentSupported || len(methods) > 0 && !slices.Contains(methods, "none") {
		return ""
	}
	return s.hub.services.Providers.Client(s.config.provider())
}

// register makes the bot known to the issuer: by its own address, or by registering
// it (RFC 7591). It is a public client: there is no secret to keep, and PKCE proves
// it.
func (s *server) register(ctx context.Context, f found) (clientID string, err error) {
	callback := s.callback()
	if at := s.clientURL(f); at != "" {
		return at, nil
	}
	manually := fmt.Sprintf(`register an app at %s with the callback %s, and put its "client_id" into the file`, f.issuer.Issuer, callback)
	if f.issuer.RegistrationEndpoint == "" {
		return "", fmt.Errorf("its authorization server registers nobody by itself: %s", manually)
	}
	if methods := f.issuer.TokenEndpointAuthMethodsSupported; len(methods) > 0 && !slices.Contains(methods, "none") {
		return "", fmt.Errorf("its authorization server registers only clients with a secret: %s", manually)
	}
	got, err := oauthex.RegisterClient(ctx, f.issuer.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: "Reeve", RedirectURIs: []string{callback}, TokenEndpointAuthMethod: "none", ApplicationType: "web",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}, s.registrar(f))
	switch {
	case err != nil:
		return "", fmt.Errorf("the bot could not be registered there (%s): %s", line(plugins.CutMiddle(err.Error(), 200)), manually)
	case got.ClientSecret != "" || !slices.Contains([]string{"", "none"}, got.TokenEndpointAuthMethod):
		return "", fmt.Errorf("its authorization server gives a secret to a client that wants none: %s", manually)
	case len(got.ClientID) > 2000 || len(got.RedirectURIs) > 0 && !slices.Contains(got.RedirectURIs, callback):
		return "", fmt.Errorf("its authorization server has registered something else: %s", manually)
	}
	s.log.Info("registered at the authorization server of the MCP server", "issuer", f.issuer.Issuer, "client", line(got.ClientID))
	return got.ClientID, nil
}

// registrar is a client for the issuer's own addresses, which follows no redirect.
func (s *server) registrar(f found) *http.Client {
	u, err := url.Parse(f.issuer.RegistrationEndpoint)
	if err != nil {
		u = &url.URL{}
	}
	client := *s.web(u)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
