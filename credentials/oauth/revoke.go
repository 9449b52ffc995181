package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"reeve/credentials"
)

// revoke gives a token back. Without a way to do so it answers false.
func (w *wire) revoke(ctx context.Context, c Configured, which, hint string) (done bool, err error) {
	if c.Revoke.URL == "" || which == "" {
		return false, nil
	}
	const op = "revoke the token"
	address := strings.ReplaceAll(c.Revoke.URL, "{client_id}", url.PathEscape(c.ClientID))
	method, kind, values := http.MethodPost, "application/x-www-form-urlencoded", url.Values{"token": {which}, "token_type_hint": {hint}}
	basic := c.AuthStyle == "header" && c.ClientSecret.IsSet()
	var body []byte
	switch c.Revoke.How {
	case "github":
		method, kind, basic = http.MethodDelete, "application/json", true
		body, _ = json.Marshal(map[string]string{"access_token": which})
	case "json":
		kind = "application/json"
		body, _ = json.Marshal(map[string]string{"token": which})
	default:
		if !basic {
			values.Set("client_id", c.ClientID)
			if c.ClientSecret.IsSet() {
				values.Set("client_secret", c.ClientSecret.Reveal())
			}
		}
		body = []byte(values.Encode())
	}
	ctx, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return false, &Error{Op: op, Provider: c.Name, why: "its URL is malformed"}
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Accept", "application/json")
	if basic {
		request.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal()))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return false, failure(op, c.Name, false, err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, wireBody))
	if response.StatusCode >= 300 && !(c.Revoke.How == "github" && response.StatusCode == http.StatusNotFound) {
		return false, &Error{Op: op, Provider: c.Name, Status: response.StatusCode}
	}
	return true, nil
}

// revokeAll gives back what an account holds: the refresh token first, with which
// others come and go, and then the access token.
func (w *wire) revokeAll(ctx context.Context, c Configured, access, refresh credentials.Secret) (done bool, err error) {
	if c.Revoke.How != "github" && refresh.IsSet() {
		done, err = w.revoke(ctx, c, refresh.Reveal(), "refresh_token")
	}
	also, err2 := w.revoke(ctx, c, access.Reveal(), "access_token")
	return done || also, errors.Join(err, err2)
}
