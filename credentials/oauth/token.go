package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"reeve/credentials"
	"reeve/plugins/outbound"
)

// Error says what a provider did not do, in words that hold nothing it has sent
// but a code that is known.
type Error struct {
	Op       string // such as "exchange the code"
	Provider string
	Code     string // an error code of the standards, or of a known provider
	Status   int    // of the answer; 0: there was none
	// Sent: the request has left, and it is not known what became of it.
	Sent bool
	why  string
}

func (e *Error) Error() string {
	text := e.Op + " at " + e.Provider
	switch {
	case e.Code != "":
		return text + ": " + e.Code
	case e.why != "":
		return text + ": " + e.why
	}
	return fmt.Sprintf("%s: status %d", text, e.Status)
}

// knownCodes are all that is repeated of what a provider says of an error.
var knownCodes = map[string]bool{
	"invalid_request": true, "invalid_client": true, "invalid_grant": true, "unauthorized_client": true,
	"unsupported_grant_type": true, "invalid_scope": true, "invalid_target": true, "access_denied": true,
	"server_error": true, "temporarily_unavailable": true,
	codePending: true, codeSlowDown: true, "expired_token": true,
	// GitHub's own:
	"bad_verification_code": true, "incorrect_client_credentials": true, "redirect_uri_mismatch": true,
	"bad_refresh_token": true, "device_flow_disabled": true, "incorrect_device_code": true, "token_expired": true,
	"unverified_user_email": true,
}

const (
	codePending  = "authorization_pending"
	codeSlowDown = "slow_down"
	grantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
)

const (
	// wireTime bounds one request at a provider's own endpoints, and wireBody what
	// is read of its answer.
	wireTime = 30 * time.Second
	wireBody = 1 << 20
)

// wire speaks with the endpoints of providers: public addresses alone, and no
// redirects, for what is sent is a secret.
type wire struct {
	client *http.Client
	now    func() time.Time
}

func newWire(options outbound.Options, now func() time.Time) *wire {
	options.MaxBody = wireBody
	if options.Timeout == 0 || options.Timeout > wireTime {
		options.Timeout = wireTime
	}
	return &wire{client: options.Any(), now: now}
}

// token is what a provider has granted.
type token struct {
	access, refresh credentials.Secret
	expires         time.Time
	scopes          []string
}

func (c Configured) config(public string) *oauth2.Config {
	style := oauth2.AuthStyleInParams
	if c.AuthStyle == "header" {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{
		ClientID: c.ClientID, ClientSecret: c.ClientSecret.Reveal(), RedirectURL: callbackURL(public, c.Name),
		Endpoint: oauth2.Endpoint{AuthURL: c.AuthURL, TokenURL: c.TokenURL, DeviceAuthURL: c.DeviceURL, AuthStyle: style},
	}
}

// exchange turns a code into a token.
func (w *wire) exchange(ctx context.Context, c Configured, public, code, verifier string, asked []string) (token, error) {
	var options []oauth2.AuthCodeOption
	if c.PKCE {
		options = append(options, oauth2.VerifierOption(verifier))
	}
	return w.retrieve(ctx, c, "exchange the code", asked, func(ctx context.Context) (*oauth2.Token, error) {
		return c.config(public).Exchange(ctx, code, options...)
	})
}

// poll asks once whether a device code was entered.
func (w *wire) poll(ctx context.Context, c Configured, device string, asked []string) (token, error) {
	return w.retrieve(ctx, c, "ask for the code's outcome", asked, func(ctx context.Context) (*oauth2.Token, error) {
		config := c.config("")
		config.RedirectURL = ""
		return config.Exchange(ctx, device, oauth2.SetAuthURLParam("grant_type", grantDevice), oauth2.SetAuthURLParam("device_code", device))
	})
}

// refresh spends a refresh token. One that the provider does not replace stays.
func (w *wire) refresh(ctx context.Context, c Configured, refresh credentials.Secret, granted []string) (token, error) {
	return w.retrieve(ctx, c, "refresh the token", granted, func(ctx context.Context) (*oauth2.Token, error) {
		return c.config("").TokenSource(ctx, &oauth2.Token{RefreshToken: refresh.Reveal()}).Token()
	})
}

func (w *wire) retrieve(ctx context.Context, c Configured, op string, asked []string, ask func(context.Context) (*oauth2.Token, error)) (token, error) {
	sent := new(atomic.Bool)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	got, err := ask(context.WithValue(ctx, oauth2.HTTPClient, w.tokenClient(c)))
	if err != nil {
		return token{}, failure(op, c.Name, sent.Load(), err)
	}
	kind := got.Type()
	if !strings.EqualFold(kind, "Bearer") {
		return token{}, &Error{Op: op, Provider: c.Name, Status: http.StatusOK, why: "its token is of a kind that is not known here"}
	}
	if !plainToken(got.AccessToken) || got.RefreshToken != "" && !plainToken(got.RefreshToken) {
		return token{}, &Error{Op: op, Provider: c.Name, Status: http.StatusOK, why: "its token is malformed"}
	}
	out := token{access: credentials.NewSecret(got.AccessToken), refresh: credentials.NewSecret(got.RefreshToken), scopes: asked}
	if !got.Expiry.IsZero() {
		// The library goes by the machine's clock.
		out.expires = w.now().Add(time.Until(got.Expiry)).UTC()
	}
	// A provider that says nothing has granted what was asked for (RFC 6749, 5.1).
	switch scope := got.Extra("scope").(type) {
	case string:
		if scope != "" {
			out.scopes = splitScopes(scope)
		}
	case []any: // some providers' way
		out.scopes = nil
		for _, one := range scope {
			if name, ok := one.(string); ok {
				out.scopes = append(out.scopes, name)
			}
		}
	}
	if err := w.meant(ctx, c, got.AccessToken); err != nil {
		_, _ = w.revokeAll(ctx, c, out.access, out.refresh)
		return token{}, &Error{Op: op, Provider: c.Name, Status: http.StatusOK, why: err.Error()}
	}
	return out, nil
}

// plainToken reports whether a token can stand in a header, as all can.
func plainToken(text string) bool {
	return len(text) <= 16<<10 && strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// failure takes from an error what may be told.
func failure(op, provider string, sent bool, err error) error {
	e := &Error{Op: op, Provider: provider}
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if answer.Response != nil {
			e.Status = answer.Response.StatusCode
		}
		if knownCodes[answer.ErrorCode] {
			e.Code = answer.ErrorCode
		}
		return e
	}
	if network, ok := errors.AsType[*outbound.Error](err); ok {
		e.Sent, e.why = sent, network.Why
		return e
	}
	// What the answer held cannot be read: it may have been a token.
	e.Sent, e.why = sent, "its answer cannot be read"
	return e
}

// refused reports whether a provider has refused a refresh token for good.
func refusedForGood(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status == 0 {
		return false
	}
	switch e.Code {
	case "invalid_grant", "bad_refresh_token", "unauthorized_client", "access_denied", "expired_token", "token_expired":
		return true
	case "":
		return e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	}
	return false
}
