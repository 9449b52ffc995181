package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// explain makes a problem of an answer.
func (c client) explain(response *http.Response, body []byte) *problem {
	var r refused
	_ = json.Unmarshal(body, &r)
	h := response.Header
	p := &problem{status: response.StatusCode, message: flat(r.Message)}
	who := "the connected GitHub account"
	if c.app {
		who = "the bot's own GitHub App"
	}
	wait, limited := c.limited(response, r.Message)
	switch status := response.StatusCode; {
	case limited:
		p.text = fmt.Sprintf("GitHub takes no more requests of %s for now: it may be asked again in %s. Do without it until then, and say so.", who, wait)
	case status == http.StatusUnauthorized && c.app:
		p.text = "GitHub does not accept the bot's own GitHub App. Who operates the bot has to look at its key and installation."
	case status == http.StatusUnauthorized:
		p.text = "GitHub does not accept the connected account any more: the connection was revoked, or has expired. The person you act for has to disconnect GitHub in the bot's home tab and ask again; a link to connect it anew comes then."
	case status == http.StatusForbidden && strings.HasPrefix(h.Get("X-GitHub-SSO"), "required"):
		c.signOn(p, h.Get("X-GitHub-SSO"))
	case status == http.StatusForbidden && len(missing(h)) > 0:
		p.text = fmt.Sprintf("GitHub wants a scope that the connection has not been granted: %s; it has %s. The person you act for has to disconnect GitHub in the bot's home tab, ask again, and allow it; or who operates the bot has to ask for more.", strings.Join(missing(h), " or "), orNone(granted(h)))
	case status == http.StatusForbidden && strings.Contains(r.Message, "OAuth App access restrictions"):
		p.text = "The organization has not allowed this bot's OAuth app: an owner of it has to approve the app in the organization's settings under Third-party access."
	case status == http.StatusForbidden && strings.Contains(r.Message, "not accessible by integration"):
		p.text = fmt.Sprintf("GitHub does not let %s do this: its app lacks the permission%s. An owner of the repository's organization can grant it in the app's settings, or install the app there.", who, accepted(h))
	case status == http.StatusNotFound:
		p.text = fmt.Sprintf("There is no such thing on GitHub, or %s cannot see it.%s", who, c.hint(h))
	case status == http.StatusGone:
		p.text = "It is gone: it was deleted, or its repository has switched this off."
	case status == http.StatusUnprocessableEntity:
		p.text = fmt.Sprintf("GitHub finds the request wrong: %s.", r.sentence())
	case status == http.StatusUnavailableForLegalReasons:
		p.text = "GitHub does not show this, for legal reasons."
	case status/100 == 3:
		p.text = "It has moved, and under its old name nothing is changed: read it again, and use the name that it has now."
	case status >= 500:
		p.silent = true
		p.text = fmt.Sprintf("GitHub has trouble of its own (%d). Try it again later.", status)
	default:
		p.text = fmt.Sprintf("GitHub refuses this to %s (%d): %s.", who, status, orElse(p.message, "it does not say why"))
	}
	return p
}

// limited: too much was asked. docs.github.com/rest: rate limits for the REST API.
func (c client) limited(response *http.Response, message string) (wait string, limited bool) {
	h := response.Header
	status := response.StatusCode
	if status != http.StatusForbidden && status != http.StatusTooManyRequests {
		return "", false
	}
	after := h.Get("Retry-After")
	exhausted := h.Get("X-RateLimit-Remaining") == "0"
	if status != http.StatusTooManyRequests && after == "" && !exhausted && !strings.Contains(strings.ToLower(message), "rate limit") {
		return "", false
	}
	if seconds, err := strconv.Atoi(after); err == nil && seconds >= 0 {
		return lasts(time.Duration(min(seconds, 86400)) * time.Second), true
	}
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && exhausted {
		return lasts(time.Unix(reset, 0).Sub(c.now())), true
	}
	return "a minute", true
}

func lasts(d time.Duration) string {
	if d <= time.Minute {
		return "a minute"
	}
	return fmt.Sprintf("%d minutes", int((min(d, 24*time.Hour)+time.Minute-1)/time.Minute))
}

// signOn tells of an organization that wants its own sign-on for a connection.
// The link is the person's, and no model reads it.
func (c client) signOn(p *problem, header string) {
	p.text = "The organization wants its single sign-on for this connection first. "
	_, link, _ := strings.Cut(header, "url=")
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "https" || u.Host != c.web || u.User != nil || strings.ContainsAny(u.String(), "<>|()[]`") {
		p.text += "The person you act for has to authorize the bot's app there: on GitHub under Settings, Applications, Authorized OAuth Apps."
		return
	}
	p.text += "The person you act for has been sent the link by direct message; when he has signed on there he can ask again."
	p.dm = fmt.Sprintf("GitHub wants the single sign-on of an organization before I may use your account there. Sign on here, and then ask me again: <%s>", u)
}

// granted are the scopes of the connection. A token of a GitHub App has none, and
// GitHub does not speak of them then.
func granted(h http.Header) []string { return words(h.Get("X-OAuth-Scopes")) }

// missing are the scopes of which one would have done; empty: it is not that.
func missing(h http.Header) []string {
	want, have := words(h.Get("X-Accepted-OAuth-Scopes")), granted(h)
	if _, spoken := h["X-Oauth-Scopes"]; !spoken {
		return nil
	}
	for _, scope := range want {
		if slices.Contains(have, scope) || scope == "public_repo" && slices.Contains(have, "repo") {
			return nil
		}
	}
	return want
}

// hint is why something may be there, and not be seen.
func (c client) hint(h http.Header) string {
	_, spoken := h["X-Oauth-Scopes"]
	switch {
	case c.app:
		return " The app may not be installed for that repository."
	case spoken && !slices.Contains(granted(h), "repo"):
		return " Private repositories cannot be seen with this connection: it has not been granted the scope repo."
	}
	return " A private repository that the account is no member of looks the same; so does one of an organization that has not allowed the bot's app."
}

func accepted(h http.Header) string {
	if permissions := flat(h.Get("X-Accepted-GitHub-Permissions")); permissions != "" {
		return " " + permissions
	}
	return ""
}

// partial is what of a search is missing because an organization wants its
// single sign-on.
func partial(h http.Header) string {
	_, list, found := strings.Cut(h.Get("X-GitHub-SSO"), "organizations=")
	if !found {
		return ""
	}
	return fmt.Sprintf("Left out is what belongs to %d organizations that want their single sign-on first: the person you act for has to authorize the bot's app there, on GitHub under Settings, Applications, Authorized OAuth Apps.", len(words(list)))
}
