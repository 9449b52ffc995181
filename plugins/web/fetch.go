package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"reeve/plugins"
	"reeve/plugins/outbound"
)

const (
	// maxURL is the longest address that is asked, in bytes.
	maxURL = 2048
	// userAgent is the same everywhere: it says what reads, and not for whom.
	userAgent = "Mozilla/5.0 (compatible; Reeve; reads a page that a person asked about)"
	accept    = "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, application/xml;q=0.7, text/*;q=0.6, */*;q=0.1"
)

// told is an error that is a whole sentence for the model.
type told string

func (t told) Error() string { return string(t) }

func tell(format string, values ...any) error { return told(fmt.Sprintf(format, values...)) }

// sentence is what the model is told of an error; nothing of our own network
// is in it.
func sentence(err error) string {
	if words, ok := errors.AsType[told](err); ok {
		return string(words)
	}
	if failed, ok := errors.AsType[*outbound.Error](err); ok {
		return fmt.Sprintf("The page was not read: %s.", failed)
	}
	return "The page was not read: it could not be fetched."
}

// parse reads an address that the model wrote. What it returns is what is
// asked, and the host that the gate is told.
func parse(text string) (*url.URL, string, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxURL {
		return nil, "", tell("The page was not read: its address is longer than %d bytes.", maxURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return nil, "", tell("The page was not read: that is no whole address; one begins with https:// or http://.")
	}
	host, err := outbound.Host(u)
	if err != nil {
		return nil, "", err
	}
	u.Fragment, u.RawFragment = "", ""
	return u, host, nil
}

// read fetches a page, over redirects of its own host, and makes text of it.
func (f fetcher) read(ctx context.Context, address string) (string, error) {
	u, host, err := parse(address)
	if err != nil {
		return "", err
	}
	for range outbound.MaxRedirects + 1 {
		response, err := f.get(ctx, u)
		if err != nil {
			return "", err
		}
		if !isRedirect(response) {
			defer response.Body.Close()
			return f.page(u, host, response)
		}
		response.Body.Close()
		if u, err = next(u, host, response.Header.Get("Location")); err != nil {
			return "", err
		}
	}
	return "", tell("The page was not read: %s redirects more than %d times.", host, outbound.MaxRedirects)
}

func (f fetcher) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, tell("The page was not read: its address is malformed.")
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", accept)
	return f.client.Do(r)
}

func isRedirect(r *http.Response) bool {
	switch r.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// next is where a redirect of the same host leads. One of another host is told
// and not followed.
func next(from *url.URL, host, location string) (*url.URL, error) {
	if location == "" || len(location) > maxURL {
		return nil, tell("The page was not read: %s redirects to no proper address.", host)
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, tell("The page was not read: %s redirects to no proper address.", host)
	}
	there, err := outbound.Host(to)
	switch {
	case err != nil:
		return nil, tell("The page was not read: %s redirects to an address that is not asked.", host)
	case from.Scheme == "https" && to.Scheme != "https":
		return nil, tell("The page was not read: %s redirects from https to http, which is not followed.", host)
	case there != host:
		return nil, tell("Nothing was read: the page redirects to another host, %s. To read it there, call fetch_page with %s", there, plugins.CutMiddle(to.String(), maxURL))
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}
