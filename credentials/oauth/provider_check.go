package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"reeve/plugins/outbound"
)

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
