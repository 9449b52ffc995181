package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/plugins"
)

// problem is why something was not done, as a sentence for the model that says
// what would help.
type problem struct {
	text string
	// dm is for the person alone: a link that is his.
	dm     string
	status int
	// silent: there was no answer, so that a change may have been made.
	silent bool
	// message is GitHub's own word.
	message string
}

func (p *problem) Error() string { return p.text }

// told makes a result of an error.
func told(err error) (plugins.Result, error) {
	if p, ok := errors.AsType[*problem](err); ok {
		return plugins.Result{Error: true, Text: p.text, DM: p.dm}, nil
	}
	if refused, ok := errors.AsType[plugins.Refusal](err); ok {
		return plugins.Result{Error: true, Text: string(refused)}, nil
	}
	return plugins.Result{}, err
}

// is reports whether an error is GitHub's answer with one of these statuses.
func is(err error, statuses ...int) bool {
	p, ok := errors.AsType[*problem](err)
	return ok && slices.Contains(statuses, p.status)
}

// refused is the body of an answer that is none of 2xx.
type refused struct {
	Message string `json:"message"`
	Errors  []struct {
		Field, Code, Message string
	} `json:"errors"`
}

// UnmarshalJSON reads also errors that are bare texts.
func (r *refused) UnmarshalJSON(data []byte) error {
	var plain struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	r.Message = plain.Message
	for _, one := range plain.Errors {
		var e struct{ Field, Code, Message string }
		if json.Unmarshal(one, &e) != nil {
			_ = json.Unmarshal(one, &e.Message)
		}
		r.Errors = append(r.Errors, e)
	}
	return nil
}

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

func (r refused) sentence() string {
	var said []string
	if text := flat(r.Message); text != "" {
		said = append(said, strings.TrimSuffix(text, "."))
	}
	for _, e := range r.Errors[:min(len(r.Errors), 5)] {
		switch {
		case e.Message != "":
			said = append(said, strings.TrimSuffix(flat(e.Message), "."))
		case e.Field != "":
			said = append(said, flat(e.Field+" is "+strings.ReplaceAll(e.Code, "_", " ")))
		}
	}
	return orElse(strings.Join(said, "; "), "it does not say why")
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

func words(list string) (all []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = flat(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

func orNone(list []string) string { return orElse(strings.Join(list, ", "), "none") }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
