package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"reeve/credentials"
)

// account is whose a token is.
type account struct {
	id, name, email string
	// verified are the addresses that the provider knows to be the account's.
	verified []string
}

// whose asks the provider.
func (w *wire) whose(ctx context.Context, c Configured, access credentials.Secret) (account, error) {
	if c.bound() {
		return w.tokenAccount(ctx, c, access)
	}
	ctx, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	info, err := w.ask(ctx, c, c.UserInfo.Method, c.UserInfo.URL, c.UserInfo.Body, access)
	if err != nil {
		return account{}, err
	}
	a := account{id: field(info, c.UserInfo.ID), name: field(info, c.UserInfo.Name), email: field(info, c.UserInfo.Email)}
	if a.id == "" {
		return account{}, &Error{Op: "ask whose the account is", Provider: c.Name, Status: http.StatusOK, why: "it does not say"}
	}
	if a.name == "" {
		a.name = a.id
	}
	if a.email != "" && c.UserInfo.Verified != "" && field(info, c.UserInfo.Verified) == "true" {
		a.verified = append(a.verified, a.email)
	}
	if c.UserInfo.Emails == "" {
		return a, nil
	}
	// Without the right to read them there are none that count.
	list, err := w.ask(ctx, c, http.MethodGet, c.UserInfo.Emails, "", access)
	if err != nil {
		return a, nil
	}
	emails, _ := list.([]any)
	for _, one := range emails {
		address := field(one, "email")
		if address == "" || field(one, "verified") != "true" {
			continue
		}
		a.verified = append(a.verified, address)
		if a.email == "" || field(one, "primary") == "true" {
			a.email = address
		}
	}
	return a, nil
}

// refuses asks the provider whether it refuses a token. In doubt it does not.
func (w *wire) refuses(ctx context.Context, c Configured, access credentials.Secret) bool {
	if c.bound() {
		return w.refusesBound(ctx, c, access)
	}
	ctx, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	_, err := w.ask(ctx, c, c.UserInfo.Method, c.UserInfo.URL, c.UserInfo.Body, access)
	failed, _ := errors.AsType[*Error](err)
	return failed != nil && failed.Status == http.StatusUnauthorized
}

func (w *wire) ask(ctx context.Context, c Configured, method, address, body string, access credentials.Secret) (any, error) {
	const op = "ask whose the account is"
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, &Error{Op: op, Provider: c.Name, why: "its URL is malformed"}
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "reeve")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.UserInfo.Header {
		request.Header.Set(name, value)
	}
	request.Header.Set("Authorization", "Bearer "+access.Reveal())
	response, err := w.client.Do(request)
	if err != nil {
		return nil, failure(op, c.Name, false, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, &Error{Op: op, Provider: c.Name, Status: response.StatusCode}
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, failure(op, c.Name, false, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var answer any
	if decoder.Decode(&answer) != nil {
		return nil, &Error{Op: op, Provider: c.Name, Status: response.StatusCode, why: "its answer cannot be read"}
	}
	return answer, nil
}

// field is a value in JSON as text, found by its path; empty: it is not there.
func field(value any, path string) string {
	if path == "" {
		return ""
	}
	for _, name := range strings.Split(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[name]
	}
	switch v := value.(type) {
	case string:
		return bounded(v)
	case json.Number, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// bounded cuts what a stranger wrote to what a card can hold.
func bounded(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200])
	}
	return text
}
