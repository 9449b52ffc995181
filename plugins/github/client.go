package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"reeve/plugins"
)

const (
	// maxAnswer is how much of one answer is read, in bytes.
	maxAnswer = 8 << 20
	// apiVersion is the REST API's that the types here are of.
	apiVersion = "2022-11-28"
	userAgent  = "reeve"
)

// client speaks with GitHub with somebody's rights.
type client struct {
	http *http.Client
	api  *url.URL
	web  string
	now  func() time.Time
	// app: the rights are the bot's own, not a person's.
	app bool
}

// account is the client of the person for whom a call is made.
func (p *plugin) account(call plugins.Call) (client, error) {
	if call.Account == nil || call.Account.HTTP == nil {
		return client{}, refusal("This needs a GitHub account of the person you act for, and none is connected.")
	}
	return client{http: call.Account.HTTP, api: p.api, web: p.web, now: p.now}, nil
}

// answer is what came besides the body.
type answer struct {
	header http.Header
	more   bool // there are further pages
}

// get reads what stands at a path, which at makes.
func (c client) get(ctx context.Context, path string, query url.Values, into any) (answer, error) {
	r, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return answer{}, err
	}
	// A repository that has moved answers with a redirect, which stays on its host.
	again := *c.http
	again.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if len(via) > 3 || next.URL.Host != c.api.Host || next.URL.Scheme != c.api.Scheme {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return c.do(&again, r, into)
}

// post sends a change. sent: some of the request may have reached GitHub, and so
// whoever gets no proper answer does not know whether it was made.
func (c client) post(ctx context.Context, path string, body, into any) (sent bool, err error) {
	written, err := json.Marshal(body)
	if err != nil {
		return false, fmt.Errorf("write a request to github: %w", err)
	}
	r, err := c.request(ctx, http.MethodPost, path, nil, written)
	if err != nil {
		return false, err
	}
	// The body's reader tells: what nobody has read nobody has sent. A trace in the
	// context would not get as far as the connection.
	var began atomic.Bool
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(&watched{bytes.NewReader(written), &began}), nil }
	r.Body, _ = r.GetBody()
	once := *c.http
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	_, err = c.do(&once, r, into)
	return began.Load(), err
}

// watched tells that it was read.
type watched struct {
	io.Reader
	began *atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	w.began.Store(true)
	return w.Reader.Read(p)
}

func (c client) request(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Request, error) {
	address := c.api.String() + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request to github: %w", err)
	}
	r.Header.Set("Accept", "application/vnd.github+json")
	if strings.HasPrefix(path, "/search/code") {
		r.Header.Set("Accept", "application/vnd.github.text-match+json")
	}
	r.Header.Set("X-GitHub-Api-Version", apiVersion)
	r.Header.Set("User-Agent", userAgent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

func (c client) do(client *http.Client, r *http.Request, into any) (answer, error) {
	response, err := client.Do(r)
	if err != nil {
		return answer{}, unreachable(r.Context(), err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, unreachable(r.Context(), err)
	case response.StatusCode/100 != 2:
		return answer{}, c.explain(response, body)
	case len(body) > maxAnswer:
		return answer{}, &problem{text: "GitHub's answer is longer than can be read here: ask for less at a time.", silent: true}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return answer{}, &problem{text: "GitHub's answer could not be read.", silent: true}
	}
	return answer{response.Header, strings.Contains(response.Header.Get("Link"), `rel="next"`)}, nil
}

// unreachable is that there was no answer. What a network says of itself is not
// told; what the account's client says is, such as that it has to be connected
// again.
func unreachable(ctx context.Context, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if ctx.Err() != nil {
		return &problem{text: "GitHub did not answer in time.", silent: true}
	}
	if _, network := errors.AsType[net.Error](err); network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &problem{text: "GitHub could not be reached, or its answer broke off. Try it again later.", silent: true}
	}
	return &problem{text: fmt.Sprintf("GitHub was not asked, or did not answer: %s.", strings.TrimSuffix(flat(err.Error()), ".")), silent: true}
}

// at makes a path of its segments. Those that come from outside were parsed; a
// branch may have several.
func at(segments ...any) string {
	var path strings.Builder
	for _, segment := range segments {
		path.WriteString("/" + url.PathEscape(fmt.Sprint(segment)))
	}
	return path.String()
}

func (r repository) at(segments ...any) string {
	return at(append([]any{"repos", r.owner, r.name}, segments...)...)
}

// escapeBranch keeps the slashes of a branch's name.
func escapeBranch(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

func page(n, size int) url.Values {
	return url.Values{"per_page": {fmt.Sprint(size)}, "page": {fmt.Sprint(n)}}
}
