package oauth

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// tokenClient writes requests at the token endpoint the provider's way.
func (w *wire) tokenClient(c Configured) *http.Client {
	client := *w.client
	client.Transport = tokenTransport{provider: c, next: w.client.Transport}
	return &client
}

type tokenTransport struct {
	provider Configured
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, err
	}
	if form.Get("grant_type") == grantDevice {
		form.Del("code") // how the library names what it sends
		form.Set("client_id", t.provider.ClientID)
	}
	if t.provider.Resource != "" { // of every grant (RFC 8707, 2.2)
		form.Set("resource", t.provider.Resource)
	}
	out := r.Clone(r.Context())
	body := []byte(form.Encode())
	if t.provider.TokenBody == "json" {
		plain := map[string]string{}
		for name := range form {
			plain[name] = form.Get(name)
		}
		if body, err = json.Marshal(plain); err != nil {
			return nil, err
		}
		out.Header.Set("Content-Type", "application/json")
	}
	out.Header.Set("Accept", "application/json")
	out.Body, out.ContentLength, out.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return t.next.RoundTrip(out)
}

// deviceClient proves the client where a device flow begins, as a confidential
// client does at any endpoint (RFC 8628, 3.1).
func (w *wire) deviceClient(c Configured) *http.Client {
	client := *w.client
	client.Transport = deviceTransport{provider: c, next: w.client.Transport}
	return &client
}

type deviceTransport struct {
	provider Configured
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t deviceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	if c := t.provider; c.AuthStyle == "header" && c.ClientSecret.IsSet() {
		out.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal()))
	}
	return t.next.RoundTrip(out)
}
