package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// reportAccounts says where people would connect accounts, and what the operator
// has to do for it. Nothing is registered, and what a deployment remembers of the
// server is not looked at.
func (s *server) reportAccounts(ctx context.Context) (report, error) {
	r := s.reportTools(s.config.catalog, "spends the rights of each person's own account")
	say := func(format string, values ...any) string {
		return s.mask.text("server " + s.config.name + ": " + fmt.Sprintf(format, values...))
	}
	if s.hub.services.Providers == nil {
		r.warnings = append(r.warnings, say("nobody can connect an account: %v", errNoAccounts))
		return r, nil
	}
	f, err := s.discover(ctx, "")
	if err != nil {
		return r, fmt.Errorf("server %s: %w", s.config.name, s.mask.err(s.unanswered(ctx, err)))
	}
	scopes := "no scopes"
	if len(f.scopes) > 0 {
		scopes = "the scopes " + line(strings.Join(f.scopes, " "))
	}
	r.lines = append(r.lines, say("people connect accounts at %s, with %s, for %s", line(f.issuer.Issuer), scopes, line(f.resource)))
	methods := f.issuer.TokenEndpointAuthMethodsSupported
	switch {
	case s.config.oauth.ClientID != "":
		r.lines = append(r.lines, say("the callback to register there for the client %s is %s", line(s.config.oauth.ClientID), s.callback()))
	case s.clientURL(f) != "":
		r.lines = append(r.lines, say("nothing has to be registered there: the bot's client id is %s, which has to be reachable from there, and the callback is %s", s.clientURL(f), s.callback()))
	case f.issuer.RegistrationEndpoint == "", len(methods) > 0 && !slices.Contains(methods, "none"):
		r.warnings = append(r.warnings, say(`nobody can connect an account: register an app at %s with the callback %s, and put its "client_id" into "oauth"`, line(f.issuer.Issuer), s.callback()))
	default:
		r.lines = append(r.lines, say("the bot registers itself there when it first starts, with the callback %s", s.callback()))
	}
	return r, nil
}
