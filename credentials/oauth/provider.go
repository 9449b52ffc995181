package oauth

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Provider is all that is known of a place where people have accounts. It is
// data: what differs between providers is here, and nowhere in the code.
type Provider struct {
	Name  string `json:"name"`  // lower-case letters, digits and "_"
	Title string `json:"title"` // as people call it
	// AuthURL is where a browser is sent to, and TokenURL where codes and refresh
	// tokens become access tokens. DeviceURL begins the device flow (RFC 8628);
	// empty: the provider has none.
	AuthURL   string `json:"auth_url"`
	TokenURL  string `json:"token_url"`
	DeviceURL string `json:"device_url,omitempty"`
	// Revoke is how a token is given back; without a URL it cannot be.
	Revoke   Revoke   `json:"revoke,omitzero"`
	UserInfo UserInfo `json:"user_info"`
	// IntrospectURL is where its issuer answers questions about a token (RFC 7662);
	// empty: nowhere.
	IntrospectURL string `json:"introspect_url,omitempty"`
	Scopes        Scopes `json:"scopes,omitzero"`
	// Hosts are those that a token may be sent to: names without a port;
	// "*.example.com" is any name below it.
	Hosts []string `json:"hosts"`
	// ReadPOST are the requests that read although they are a POST.
	ReadPOST []ReadPOST `json:"read_post,omitempty"`
	// AuthStyle is how the client proves itself at TokenURL: "header" (basic
	// authentication) or "params".
	AuthStyle string `json:"auth_style,omitempty"`
	// TokenBody is how a request at TokenURL is written: "form", or "json", which
	// is nobody's standard but some provider's way.
	TokenBody string `json:"token_body,omitempty"`
	// PKCE: the provider knows code_challenge, or leaves aside what it does not
	// know, as it must. Off only for one that refuses it.
	PKCE bool `json:"pkce"`
	// ExtraParams go with the authorization request.
	ExtraParams map[string]string `json:"extra_params,omitempty"`
	// Issuer is what the parameter iss of a callback must be, where there is one
	// (RFC 9207), and RequireIssuer says that there must be one.
	Issuer        string `json:"issuer,omitempty"`
	RequireIssuer bool   `json:"require_issuer,omitempty"`
	// Resource names what the token is for (RFC 8707); empty: it is not said.
	Resource string `json:"resource,omitempty"`
	// Try is an address of the resource at which a token can be tried; empty: its own.
	Try string `json:"-"`
}

// Revoke is how a provider takes a token back.
type Revoke struct {
	URL string `json:"url,omitempty"`
	// How is "rfc7009" (a form with the token, and the client's own proof), or
	// "json" (the same as JSON), or "github" (a DELETE with the client's basic
	// authentication and the token as JSON).
	How string `json:"how,omitempty"`
	// Whole: taking one token back takes all that the account has given to the app,
	// so that a token that was replaced by a newer one is left to end by itself.
	Whole bool `json:"whole,omitempty"`
}

// UserInfo is where a provider says whose account a token is of. Fields are
// paths through its JSON, as "bot.owner.user.id".
type UserInfo struct {
	URL    string            `json:"url"`
	Method string            `json:"method,omitempty"` // GET
	Body   string            `json:"body,omitempty"`   // JSON
	Header map[string]string `json:"header,omitempty"`
	ID     string            `json:"id"`
	Name   string            `json:"name"`
	Email  string            `json:"email,omitempty"`
	// Verified says whether the provider knows that the email is the person's.
	Verified string `json:"verified,omitempty"`
	// Emails is a second URL with a list of {email, verified}.
	Emails string `json:"emails,omitempty"`
}

// ReadPOST is a path whose POST reads: each "*" stands for one segment.
// GraphQL: it does so only when its document holds queries alone.
type ReadPOST struct {
	Host    string `json:"host,omitempty"` // empty: any of the provider's
	Path    string `json:"path"`
	GraphQL bool   `json:"graphql,omitempty"`
	// MCP: it is the one address of an MCP server, word for word. What a call does
	// there is what its tool does, and the session that it has begun is ended.
	MCP bool `json:"-"`
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// ReadProvider reads a provider from an operator's JSON file.
func ReadProvider(name, path string) (Provider, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Provider{}, fmt.Errorf("read provider %s: %w", name, err)
	}
	var p Provider
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return Provider{}, fmt.Errorf("read provider %s from %s: %w", name, path, err)
	}
	if p.Name == "" {
		p.Name = name
	}
	if p.Name != name {
		return Provider{}, fmt.Errorf("read provider %s from %s: it is named %q there", name, path, p.Name)
	}
	p = p.withDefaults()
	if err := p.check(false); err != nil {
		return Provider{}, fmt.Errorf("read provider %s from %s: %w", name, path, err)
	}
	return p, nil
}

func (p Provider) withDefaults() Provider {
	if p.Title == "" {
		p.Title = p.Name
	}
	if p.AuthStyle == "" {
		p.AuthStyle = "params"
	}
	if p.TokenBody == "" {
		p.TokenBody = "form"
	}
	if p.Scopes.Separator == "" {
		p.Scopes.Separator = " "
	}
	if p.UserInfo.Method == "" {
		p.UserInfo.Method = "GET"
	}
	if p.Revoke.URL != "" && p.Revoke.How == "" {
		p.Revoke.How = "rfc7009"
	}
	return p
}

// has reports whether a token may go to a host.
func (p Provider) has(host string) bool {
	for _, h := range p.Hosts {
		if suffix, wild := strings.CutPrefix(h, "*"); wild && strings.HasSuffix(host, suffix) && len(host) > len(suffix) || h == host {
			return true
		}
	}
	return false
}
