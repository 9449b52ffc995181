package oauth

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"reeve/plugins"
	"reeve/plugins/outbound"
)

// may reports whether a request may be made, and whether with the token.
func (a *apiCall) may(r *http.Request) (spend bool, err error) {
	host, err := outbound.Host(r.URL)
	switch {
	case err != nil:
		return false, err
	case !a.safe(r.URL):
		return false, Refused("only https is spoken with " + a.provider.Title)
	}
	if r.Response == nil {
		if !a.provider.has(host) {
			return false, Refused(fmt.Sprintf("%s is no host of %s", host, a.provider.Title))
		}
		return true, nil
	}
	// Behind a redirect the token goes on only where it came from, and it does not
	// come back once it was left behind.
	spend = a.provider.has(host)
	for hop := r; hop.Response != nil && hop.Response.Request != nil; hop = hop.Response.Request {
		spend = spend && sameHost(hop.URL, hop.Response.Request.URL)
	}
	return spend, nil
}

// reading holds a call that reads to requests that do. It answers the body where
// it had to look into it.
func (a *apiCall) reading(r *http.Request) (body []byte, err error) {
	if a.access == plugins.Write {
		return nil, nil
	}
	rule := a.rule(r.URL)
	switch r.Method {
	case "", http.MethodGet, http.MethodHead:
		// By GET some servers take a GraphQL document from the URL.
		if rule != nil && rule.GraphQL && r.URL.RawQuery != "" {
			return nil, Refused("a GraphQL query is sent by POST here")
		}
		return nil, nil
	case http.MethodPost:
	case http.MethodDelete:
		if rule == nil || !rule.MCP || r.Header.Get("Mcp-Session-Id") == "" {
			return nil, Refused("this call may only read, and " + r.Method + " does not")
		}
	default:
		return nil, Refused("this call may only read, and " + r.Method + " does not")
	}
	switch {
	case rule == nil:
		return nil, Refused("this call may only read, and " + a.provider.Title + " is not known to read by POST there")
	case !rule.GraphQL:
		return nil, nil
	case r.URL.RawQuery != "" || r.Body == nil || r.Header.Get("Content-Encoding") != "" || !isJSON(r.Header.Get("Content-Type")):
		return nil, Refused(errUnclear.Error())
	}
	if body, err = io.ReadAll(io.LimitReader(r.Body, maxGraphQL+1)); err != nil {
		return nil, err
	}
	if len(body) > maxGraphQL {
		return nil, Refused("that query is too long")
	}
	if err := readingGraphQL(body); err != nil {
		return nil, Refused(err.Error())
	}
	return body, nil
}

func isJSON(kind string) bool {
	kind, parameters, _ := strings.Cut(strings.ToLower(strings.TrimSpace(kind)), ";")
	parameters = strings.ReplaceAll(strings.TrimSpace(parameters), " ", "")
	return strings.TrimSpace(kind) == "application/json" && (parameters == "" || parameters == "charset=utf-8")
}

// rule is what is known of a POST to a URL; nil: nothing.
func (a *apiCall) rule(u *url.URL) *ReadPOST {
	for i, rule := range a.provider.ReadPOST {
		if rule.MCP && u.EscapedPath() == rule.Path && u.RawQuery == "" {
			return &a.provider.ReadPOST[i]
		}
	}
	// A path that is written in more than one way may be another one to the server.
	if u.RawPath != "" && u.RawPath != u.Path || path.Clean(u.Path) != u.Path {
		return nil
	}
	for i, rule := range a.provider.ReadPOST {
		if rule.MCP {
			continue
		}
		if rule.Host != "" && !strings.EqualFold(rule.Host, u.Hostname()) {
			continue
		}
		if matched, err := path.Match(rule.Path, u.Path); err == nil && matched {
			return &a.provider.ReadPOST[i]
		}
	}
	return nil
}
