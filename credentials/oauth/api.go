package oauth

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/plugins/outbound"
)

// apiClient is the connections to the APIs of providers. It reaches every public
// host, for a provider's answer may lead to one; what a token goes to is decided
// for each request.
type apiClient struct {
	next     http.RoundTripper
	loopback bool
}

func newAPIClient(options outbound.Options) *apiClient {
	return &apiClient{next: options.Any().Transport, loopback: len(options.Allow) > 0}
}

// Refused is why a request was not made, in words for the model.
type Refused string

func (r Refused) Error() string { return string(r) }

// bearer is who a request speaks for.
type bearer interface {
	// token is what to send now. refused, where it is set, is one that was not
	// taken; again is false when there is no other.
	token(ctx context.Context, refused *credentials.Record) (t credentials.Record, again bool, err error)
}

// apiCall is one call's use of somebody's account.
type apiCall struct {
	service  *Service
	provider Configured
	owner    credentials.Owner
	account  string // the id of the account with which the call began
	access   plugins.Access
	life     context.Context
}

// token implements bearer. It reads the store: an account that was disconnected
// is so from the next request on, and one that was replaced by another account is
// no more the one that the call was allowed to use.
func (a *apiCall) token(ctx context.Context, refused *credentials.Record) (credentials.Record, bool, error) {
	var r credentials.Record
	var err error
	again := true
	if refused == nil {
		r, err = a.service.fresh(ctx, a.provider, a.owner)
	} else {
		r, again, err = a.service.refusedToken(ctx, a.provider, a.owner, *refused)
	}
	if err == nil && again && r.AccountID != a.account {
		err = errAnother
	}
	return r, again, err
}

// appCall is the same call's use of what the bot itself is at the provider.
type appCall struct {
	call *apiCall
	auth Place
}

// token implements bearer. The call's account must still be there: the bot's own
// rights are spent only for somebody.
func (a *appCall) token(ctx context.Context, refused *credentials.Record) (credentials.Record, bool, error) {
	if refused != nil {
		return credentials.Record{}, false, nil
	}
	if _, _, err := a.call.token(ctx, nil); err != nil {
		return credentials.Record{}, false, err
	}
	t, err := a.auth.Token(ctx)
	return credentials.Record{Access: t}, err == nil, err
}

// client is an HTTP client for the call.
func (a *apiCall) client(who bearer) *http.Client {
	return &http.Client{Transport: &spending{call: a, who: who}, CheckRedirect: a.follow}
}

// follow decides over a redirect. To another host goes only what reads, and
// without the token.
func (a *apiCall) follow(next *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	switch {
	case len(via) > outbound.MaxRedirects:
		return Refused("it redirects too often")
	case !a.safe(next.URL):
		return Refused("it redirects to where only https would do")
	case next.Method != http.MethodGet && next.Method != http.MethodHead && !sameHost(next.URL, last.URL):
		return Refused("it redirects a request that writes to another host")
	}
	return nil
}

func (a *apiCall) safe(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && a.service.api.loopback && isLoopback(u.Hostname())
}

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// spending sends requests with a token.
type spending struct {
	call *apiCall
	who  bearer
}

// RoundTrip implements http.RoundTripper.
func (t *spending) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.roundTrip(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return response, nil
}

func (t *spending) roundTrip(r *http.Request) (*http.Response, error) {
	a := t.call
	if a.life.Err() != nil {
		return nil, errOver
	}
	spend, err := a.may(r)
	if err != nil {
		return nil, err
	}
	body, err := a.reading(r)
	if err != nil {
		return nil, err
	}
	ctx, end := a.within(r.Context())
	response, err := t.send(ctx, r, body, spend)
	if err != nil {
		end()
		if a.life.Err() != nil {
			return nil, errOver
		}
		return nil, err
	}
	response.Body = &endingBody{ReadCloser: response.Body, end: end}
	return response, nil
}

// within is a request's own context: it ends with the request's and the call's,
// and holds nothing with which either could watch the token go by.
func (a *apiCall) within(request context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	first := context.AfterFunc(request, func() { cancel(context.Cause(request)) })
	second := context.AfterFunc(a.life, func() { cancel(context.Cause(a.life)) })
	end := func() { first(); second(); cancel(nil) }
	if deadline, ok := request.Deadline(); ok {
		timed, stop := context.WithDeadline(ctx, deadline)
		return timed, func() { end(); stop() }
	}
	return ctx, end
}

// notTheirs are headers that a plugin does not set.
var notTheirs = map[string]bool{
	"Authorization": true, "Cookie": true, "Cookie2": true, "Host": true,
	"Accept-Encoding": true, // what is packed cannot be looked through for tokens
	"X-Http-Method":   true, "X-Http-Method-Override": true, "X-Method-Override": true,
}

// send sends a request, and once more with another token if the first is refused.
func (t *spending) send(ctx context.Context, r *http.Request, body []byte, spend bool) (*http.Response, error) {
	if !spend {
		return t.once(ctx, r, body, credentials.Secret{})
	}
	used, _, err := t.who.token(ctx, nil)
	if err != nil {
		return nil, err
	}
	response, err := t.once(ctx, r, body, used.Access)
	if err != nil {
		return nil, veilOf(used.Access).err(err)
	}
	if response.StatusCode != http.StatusUnauthorized {
		return response, nil
	}
	next, again, err := t.who.token(ctx, &used)
	if err != nil || !again || body == nil && r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return response, nil // there is no other, or the request cannot be made twice
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	_ = response.Body.Close()
	if response, err = t.once(ctx, r, body, next.Access); err != nil {
		return nil, veilOf(next.Access).err(err)
	}
	if response.StatusCode == http.StatusUnauthorized {
		_, _, _ = t.who.token(ctx, &next) // which says that the account is refused
	}
	return response, nil
}

// once sends a request with one token. Of what the plugin wrote only what is its
// own to say goes along, and of the answer no cookies come back.
func (t *spending) once(ctx context.Context, r *http.Request, body []byte, bearer credentials.Secret) (*http.Response, error) {
	out := r.Clone(ctx)
	out.Host, out.Response = "", nil
	out.Header = http.Header{}
	for name, values := range r.Header {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !notTheirs[name] && !strings.HasPrefix(name, "Proxy-") {
			out.Header[name] = values
		}
	}
	switch {
	case body != nil:
		out.Body, out.ContentLength, out.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	case r.GetBody != nil && r.Body != nil && r.Body != http.NoBody:
		fresh, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = fresh
	}
	if bearer.IsSet() {
		out.Header.Set("Authorization", "Bearer "+bearer.Reveal())
	}
	response, err := t.call.service.api.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	unseen(response, bearer)
	response.Header.Del("Set-Cookie")
	response.Header.Del("Set-Cookie2")
	response.Request, response.TLS = r, nil // as the plugin wrote it
	response.Trailer = nil                  // in which nobody looks for tokens
	return response, nil
}

// endingBody ends the request's context when its answer is read.
type endingBody struct {
	io.ReadCloser
	end func()
}

func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
