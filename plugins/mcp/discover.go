package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"reeve/plugins"
)

// found is what is known of a server and of who gives tokens for it.
type found struct {
	resource string
	issuer   *oauthex.AuthServerMeta
	scopes   []string
}

// errMoved: the server names another issuer than the one that is known.
type errMoved struct{ from, to string }

func (e errMoved) Error() string {
	return fmt.Sprintf(`it names another authorization server than before, %s in place of %s, which is not used; if that is meant, say so in the file: "oauth": {"issuer": %q}`, e.to, e.from, e.to)
}

// discover asks the server who gives tokens for it (RFC 9728), and that one where
// they are given (RFC 8414, OpenID Connect Discovery). Nobody's token is sent, and
// only public hosts are asked. known is the issuer that was found before.
func (s *server) discover(ctx context.Context, known string) (found, error) {
	challenge, err := s.challenge(ctx)
	if err != nil {
		return found{}, err
	}
	f := found{resource: s.config.URL, scopes: challenge.scopes}
	issuer := s.config.oauth.Issuer
	meta, err := s.resource(ctx, challenge.metadata)
	switch {
	case err == nil:
		f.resource = meta.Resource
		if len(f.scopes) == 0 {
			f.scopes = meta.ScopesSupported
		}
	case issuer == "":
		return found{}, err
	}
	if issuer == "" {
		issuer = among(meta.AuthorizationServers, known)
		if known != "" && !sameIssuer(issuer, known) {
			return found{}, errMoved{from: line(known), to: line(issuer)}
		}
	}
	if f.issuer, err = s.issuer(ctx, issuer); err != nil {
		return found{}, err
	}
	if slices.Contains(f.issuer.ScopesSupported, "offline_access") && !slices.Contains(f.scopes, "offline_access") {
		f.scopes = append(slices.Clone(f.scopes), "offline_access")
	}
	if len(s.config.oauth.Scopes) > 0 {
		f.scopes = s.config.oauth.Scopes
	}
	f.scopes = slices.DeleteFunc(slices.Clone(f.scopes), func(scope string) bool { return !scopeForm.MatchString(scope) })
	return f, nil
}

// among takes the issuer that is known, where it is still among those named.
func among(named []string, known string) string {
	for _, one := range named {
		if known != "" && sameIssuer(one, known) {
			return one
		}
	}
	return named[0]
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// refusal is how a server says that a token is missing, or not enough (RFC 6750).
type refusal struct {
	metadata string
	scopes   []string
	code     string
}

func readRefusal(headers http.Header) refusal {
	var r refusal
	challenges, err := oauthex.ParseWWWAuthenticate(headers.Values("WWW-Authenticate"))
	if err != nil {
		return r
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" {
			r = refusal{c.Params["resource_metadata"], strings.Fields(c.Params["scope"]), c.Params["error"]}
		}
	}
	if len(r.scopes) > 50 {
		r.scopes = r.scopes[:50]
	}
	return r
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + string(older) + `","capabilities":{},"clientInfo":{"name":"reeve","version":"1"}}}`

// challenge asks without a token, and reads what is wanted.
func (s *server) challenge(ctx context.Context) (refusal, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, strings.NewReader(hello))
	if err != nil {
		return refusal{}, errors.New("its address is malformed")
	}
	for name, value := range s.config.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := s.web(request.URL).Do(request)
	if err != nil {
		return refusal{}, fmt.Errorf("ask it what it wants: %w", err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 4<<10)
	if response.StatusCode != http.StatusUnauthorized {
		return refusal{}, nil
	}
	return readRefusal(response.Header), nil
}

// web is a client for one host, on public addresses alone.
func (s *server) web(u *url.URL) *http.Client { return s.hub.services.HTTP(u.Hostname()) }

// resource reads what the server says of itself: only on its own host, and only
// where it names itself as it was asked (RFC 9728, 3.3).
func (s *server) resource(ctx context.Context, named string) (*oauthex.ProtectedResourceMetadata, error) {
	server, err := url.Parse(s.config.URL)
	if err != nil {
		return nil, err
	}
	root := url.URL{Scheme: server.Scheme, Host: server.Host}
	at := func(path string) string { u := root; u.Path = path; return u.String() }
	type place struct{ url, resource string }
	places := []place{
		{at("/.well-known/oauth-protected-resource" + strings.TrimSuffix(server.Path, "/")), s.config.URL},
		{at("/.well-known/oauth-protected-resource"), root.String()},
	}
	if named != "" {
		u, err := url.Parse(named)
		if err != nil || u.Scheme != server.Scheme || !strings.EqualFold(u.Host, server.Host) || u.User != nil {
			return nil, fmt.Errorf("its metadata are said to be at %s, which is another host and is not asked", line(named))
		}
		places = slices.Insert(places, 0, place{named, s.config.URL}, place{named, root.String()})
	}
	var failed error
	for _, p := range places {
		for _, resource := range []string{p.resource, otherSlash(p.resource)} {
			meta, err := oauthex.GetProtectedResourceMetadata(ctx, p.url, resource, s.web(server))
			if err == nil && len(meta.AuthorizationServers) == 0 {
				err = errors.New("it names no authorization server")
			}
			if err == nil {
				return meta, nil
			}
			if failed == nil {
				failed = err
			}
		}
	}
	return nil, fmt.Errorf("read what it says of itself: %s", line(failed.Error()))
}

func otherSlash(address string) string {
	if cut, found := strings.CutSuffix(address, "/"); found {
		return cut
	}
	return address + "/"
}

// issuer reads the metadata of an authorization server, which must be its own.
func (s *server) issuer(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	fail := func(why string) (*oauthex.AuthServerMeta, error) {
		return nil, fmt.Errorf("its authorization server %s: %s", line(issuer), line(why))
	}
	u, err := url.Parse(issuer)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fail("that is no issuer")
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, s.web(u))
	switch {
	case err != nil:
		return fail(err.Error())
	case meta == nil:
		return fail("it has no metadata")
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return fail("it does not know PKCE with S256")
	case meta.AuthorizationEndpoint == "" || meta.TokenEndpoint == "":
		return fail("it has no address for browsers, or none for tokens")
	}
	return meta, nil
}

// providerOf is what is found, as the host knows it. The client is not in it.
func (s *server) providerOf(f found) plugins.Provider {
	methods := f.issuer.TokenEndpointAuthMethodsSupported
	return plugins.Provider{
		Name: s.config.provider(), Title: s.config.name, URL: s.config.URL, Resource: f.resource,
		Issuer: f.issuer.Issuer, AuthURL: f.issuer.AuthorizationEndpoint, TokenURL: f.issuer.TokenEndpoint,
		RevokeURL: f.issuer.RevocationEndpoint, IntrospectURL: f.issuer.IntrospectionEndpoint,
		RequireIssuer:  f.issuer.AuthorizationResponseIssParameterSupported,
		ClientInHeader: len(methods) == 0 || slices.Contains(methods, "client_secret_basic"),
		Scopes:         f.scopes,
	}
}
