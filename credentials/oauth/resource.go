package oauth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"reeve/credentials"
)

// A provider without user info is one resource, such as an MCP server: its tokens
// are for it alone (RFC 8707), and what is known of the account is what the token
// itself says. An account there belongs to the resource and the issuer with which
// it was connected. When an operator names another one, its tokens go nowhere.

// bound reports whether accounts belong to one resource and one issuer.
func (p Provider) bound() bool { return p.UserInfo.URL == "" }

// place is what the ids of a bound provider's accounts begin with.
func (p Provider) place() string {
	sum := sha256.Sum256([]byte(p.Resource + "\x00" + p.Issuer))
	return fmt.Sprintf("%x:", sum[:8])
}

// owns reports whether the account of an id was connected with the provider as it is now.
func (p Provider) owns(account string) bool {
	return !p.bound() || strings.HasPrefix(account, p.place())
}

// claims are what a token says of itself, or its issuer of it.
type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience audience `json:"aud"`
	Active   *bool    `json:"active"`
	Email    string   `json:"email"`
	Login    string   `json:"preferred_username"`
	Username string   `json:"username"`
	Name     string   `json:"name"`
}

// audience is a text or a list of texts.
type audience []string

func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*a = list
	return nil
}

// is reports whether one of the audience is a resource; a last "/" is no matter.
func (a audience) is(resource string) bool {
	for _, one := range a {
		if sameResource(one, resource) {
			return true
		}
	}
	return false
}

func sameResource(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

var (
	errOtherResource = errors.New("its token is for another resource")
	errOtherIssuer   = errors.New("its token is of another issuer")
	errNotActive     = errors.New("its token is not good")
)

// readClaims reads a JWT. Its signature is not looked at: it has come from its
// issuer itself, over TLS. Any other token says nothing.
func readClaims(token string) (c claims, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &c) != nil {
		return claims{}, false
	}
	return c, true
}

// meant refuses a token that is for another resource, or of another issuer, as far
// as that can be told: by the token itself, else by its issuer, where it answers
// questions about tokens (RFC 7662).
func (w *wire) meant(ctx context.Context, c Configured, access string) error {
	if !c.bound() {
		return nil
	}
	said, known := readClaims(access)
	if known && said.Issuer != "" && c.Issuer != "" && !sameResource(said.Issuer, c.Issuer) {
		return errOtherIssuer
	}
	if !known || len(said.Audience) == 0 {
		told, known, err := w.introspect(ctx, c, access)
		switch {
		case err != nil:
			return err
		case !known || len(told.Audience) == 0:
			return nil // nobody says
		}
		said = told
	}
	if !said.Audience.is(c.Resource) {
		return errOtherResource
	}
	return nil
}

// introspect asks the issuer about a token. known is false where it answers no such
// questions of ours.
func (w *wire) introspect(ctx context.Context, c Configured, access string) (said claims, known bool, err error) {
	if c.IntrospectURL == "" || !c.ClientSecret.IsSet() {
		return claims{}, false, nil
	}
	unclear := &Error{Op: "ask about the token", Provider: c.Name, why: "its answer cannot be read"}
	ctx, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	form := url.Values{"token": {access}, "token_type_hint": {"access_token"}}
	if c.AuthStyle != "header" {
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.ClientSecret.Reveal())
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.IntrospectURL, bytes.NewReader([]byte(form.Encode())))
	if err != nil {
		return claims{}, false, unclear
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	if c.AuthStyle == "header" {
		request.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal()))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return claims{}, false, failure(unclear.Op, c.Name, false, err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 400 && response.StatusCode < 500:
		return claims{}, false, nil
	case response.StatusCode != http.StatusOK:
		return claims{}, false, &Error{Op: unclear.Op, Provider: c.Name, Status: response.StatusCode}
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(text, &said) != nil || said.Active == nil {
		return claims{}, false, unclear
	}
	if !*said.Active {
		return claims{}, false, errNotActive
	}
	return said, true, nil
}

// tokenAccount is whose account a bound provider's token is of. One that says
// nothing is an account of its own: the browser has proved whose it is.
func (w *wire) tokenAccount(ctx context.Context, c Configured, access credentials.Secret) (account, error) {
	said, known := readClaims(access.Reveal())
	if !known {
		var err error
		if said, known, err = w.introspect(ctx, c, access.Reveal()); err != nil {
			return account{}, err
		}
	}
	subject := bounded(said.Subject)
	if !known || subject == "" {
		subject = "." + secret() // no subject that anybody has
	}
	a := account{id: c.place() + subject, email: bounded(said.Email), name: "account"}
	for _, name := range []string{said.Email, said.Login, said.Username, said.Name, said.Subject} {
		if name = bounded(name); name != "" {
			a.name = name
			break
		}
	}
	return a, nil
}

// refusesBound is refuses of a bound provider: its issuer is asked, and where that
// answers no questions, the resource itself, by a request that does nothing.
func (w *wire) refusesBound(ctx context.Context, c Configured, access credentials.Secret) bool {
	_, known, err := w.introspect(ctx, c, access.Reveal())
	if known || err != nil {
		return errors.Is(err, errNotActive)
	}
	ctx, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cmp.Or(c.Try, c.Resource), nil)
	if err != nil {
		return false
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", "Bearer "+access.Reveal())
	response, err := w.client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close() // it may be a stream
	return response.StatusCode == http.StatusUnauthorized
}
