package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"

	"reeve/plugins/outbound"
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

// Scopes are how a provider speaks of rights.
type Scopes struct {
	// Default are always asked for, besides those that a call needs.
	Default []string `json:"default,omitempty"`
	// Separator stands between them in a request; a space unless said otherwise.
	Separator string `json:"separator,omitempty"`
	// Implies are those that come with another one.
	Implies map[string][]string `json:"implies,omitempty"`
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

// check says what is wrong with a provider, all of it. loopback: http is spoken
// with this machine.
func (p Provider) check(loopback bool) error {
	var wrong []error
	say := func(format string, values ...any) { wrong = append(wrong, fmt.Errorf(format, values...)) }
	if !nameForm.MatchString(p.Name) {
		say("name: want lower-case letters, digits and '_', at most 32")
	}
	for field, address := range map[string]string{
		"auth_url": p.AuthURL, "token_url": p.TokenURL,
	} {
		if !safeURL(address, loopback) {
			say("%s: want an https URL", field)
		}
	}
	for field, address := range map[string]string{
		"device_url": p.DeviceURL, "revoke.url": p.Revoke.URL, "introspect_url": p.IntrospectURL,
		"user_info.url": p.UserInfo.URL, "user_info.emails": p.UserInfo.Emails, "issuer": p.Issuer,
	} {
		if address != "" && !safeURL(address, loopback) {
			say("%s: want an https URL, or nothing", field)
		}
	}
	switch {
	case p.bound() && (p.Resource == "" || p.Issuer == ""):
		say("user_info.url: want an https URL; without one there must be a resource and an issuer")
	case p.bound() && p.DeviceURL != "":
		say("user_info.url: want an https URL, since an account that is connected by a code is proved by its address")
	case !p.bound() && (p.UserInfo.ID == "" || p.UserInfo.Name == ""):
		say("user_info: want the paths of id and name")
	}
	if len(p.Hosts) == 0 {
		say("hosts: want the names of the hosts of its API")
	}
	for _, host := range p.Hosts {
		if !hostForm(host, loopback) {
			say("hosts: %q is no name of a host", host)
		}
	}
	if p.AuthStyle != "header" && p.AuthStyle != "params" {
		say(`auth_style: want "header" or "params"`)
	}
	if p.TokenBody != "form" && p.TokenBody != "json" {
		say(`token_body: want "form" or "json"`)
	}
	if p.Revoke.URL != "" && p.Revoke.How != "rfc7009" && p.Revoke.How != "json" && p.Revoke.How != "github" {
		say(`revoke.how: want "rfc7009", "json" or "github"`)
	}
	if p.RequireIssuer && p.Issuer == "" {
		say("require_issuer: there is no issuer")
	}
	for name := range p.ExtraParams {
		if ownParams[name] {
			say("extra_params: %q is not to be set", name)
		}
	}
	for _, r := range p.ReadPOST {
		if !strings.HasPrefix(r.Path, "/") {
			say("read_post: %q is no path", r.Path)
		}
	}
	return errors.Join(wrong...)
}

// ownParams of an authorization request are ours.
var ownParams = map[string]bool{
	"client_id": true, "redirect_uri": true, "response_type": true, "response_mode": true, "scope": true,
	"state": true, "code_challenge": true, "code_challenge_method": true, "resource": true,
}

// safeURL reports whether a secret may go to a URL.
func safeURL(raw string, loopback bool) bool {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Fragment != "" || u.Opaque != "" || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

func hostForm(host string, loopback bool) bool {
	name := strings.TrimPrefix(host, "*.")
	if !strings.Contains(name, ".") && !(loopback && isLoopback(name)) {
		return false
	}
	known, err := outbound.Host(&url.URL{Scheme: "https", Host: name})
	return err == nil && known == name
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

// lacking are the wanted scopes that the granted ones do not hold.
func (s Scopes) lacking(wanted, granted []string) []string {
	has := map[string]bool{}
	var add func(string)
	add = func(scope string) {
		if has[scope] {
			return
		}
		has[scope] = true
		for _, other := range s.Implies[scope] {
			add(other)
		}
	}
	for _, scope := range granted {
		add(scope)
	}
	var out []string
	for _, scope := range wanted {
		if !has[scope] {
			out = append(out, scope)
		}
	}
	return out
}

// ask are the scopes to ask for: the provider's own, those that a call needs,
// and those that the account has granted already, since a new token replaces
// the old one.
func (s Scopes) ask(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range append([][]string{s.Default}, lists...) {
		for _, scope := range list {
			if !seen[scope] && scope != "" {
				seen[scope] = true
				out = append(out, scope)
			}
		}
	}
	return out
}

// splitScopes reads what a provider says of the scopes it granted: they stand
// between spaces or commas, whatever it wants itself.
func splitScopes(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
}
