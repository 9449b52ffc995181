package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpTransport speaks with a server at an address. The operator wrote the
// address, so that it may be a private one. lost is told when the server no
// longer knows the session.
func httpTransport(c serverConfig, limit int, dropped func(string), lost func()) (*sdk.StreamableClientTransport, func()) {
	base := http.DefaultTransport.(*http.Transport).Clone()
	to := &roundTripper{base: base, headers: c.Headers, limit: limit, dropped: dropped, lost: lost}
	endpoint := c.URL
	if u, err := url.Parse(c.URL); err == nil { // it was checked
		to.host = u.Host
		if u.User != nil {
			to.user = u.User
			u.User = nil
			endpoint = u.String()
		}
	}
	client := &http.Client{Transport: to, CheckRedirect: sameHost}
	return &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, MaxEventSize: 2 * limit}, base.CloseIdleConnections
}

// sameHost follows no redirect to elsewhere: the operator has named one host,
// and what is sent is for that one.
func sameHost(request *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) >= 5:
		return errors.New("it redirects without an end")
	case request.URL.Host != first.Host || first.Scheme == "https" && request.URL.Scheme != "https":
		return fmt.Errorf("it redirects to another host, %s://%s; if that is meant, put it into the file", request.URL.Scheme, request.URL.Host)
	}
	return nil
}

// roundTripper adds the operator's headers, and bounds what comes back.
type roundTripper struct {
	base    http.RoundTripper
	host    string
	user    *url.Userinfo
	headers map[string]string
	limit   int
	dropped func(why string)
	lost    func()
	// answered sees each answer before it is read; nil: nobody does.
	answered func(*http.Response)
}

func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != r.host {
		return nil, errors.New("a request to another host was refused")
	}
	request = request.Clone(request.Context())
	for name, value := range r.headers {
		request.Header.Set(name, value)
	}
	if r.user != nil {
		password, _ := r.user.Password()
		request.SetBasicAuth(r.user.Username(), password)
	}
	response, err := r.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusNotFound && request.Header.Get("Mcp-Session-Id") != "" && request.Method == http.MethodPost {
		r.lost()
	}
	if r.answered != nil {
		r.answered(response)
	}
	r.bound(request, response)
	return response, nil
}

func (r *roundTripper) bound(request *http.Request, response *http.Response) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	body := response.Body
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		response.Body = bounded{io.LimitReader(body, 64<<10), body}
	case kind == "text/event-stream":
		response.Body = bounded{newFrames(body, r.limit, true, r.dropped), body}
	case request.Method == http.MethodPost && strings.HasSuffix(kind, "json"):
		response.ContentLength = -1
		response.Header.Del("Content-Length")
		response.Body = bounded{&answer{from: body, request: request, limit: r.limit}, body}
	default:
		response.Body = bounded{io.LimitReader(body, int64(r.limit)), body}
	}
}

type bounded struct {
	io.Reader
	io.Closer
}

// answer is a body of one message. What is too long or no JSON is replaced by
// an error that answers the same request, since the client would end the
// connection over it.
type answer struct {
	from    io.Reader
	request *http.Request
	limit   int
	ready   *bytes.Reader
}

func (a *answer) Read(into []byte) (int, error) {
	if a.ready == nil {
		data, err := io.ReadAll(io.LimitReader(a.from, int64(a.limit)+1))
		if err != nil {
			return 0, err
		}
		switch {
		case len(data) > a.limit:
			data = a.refusal(fmt.Sprintf("the result was longer than the %d bytes that are taken; ask for less", a.limit))
		case !json.Valid(data):
			data = a.refusal("what came back is not valid JSON")
		}
		a.ready = bytes.NewReader(data)
	}
	return a.ready.Read(into)
}

func (a *answer) refusal(why string) []byte {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if a.request.GetBody != nil {
		if body, err := a.request.GetBody(); err == nil {
			_ = json.NewDecoder(body).Decode(&asked)
			_ = body.Close()
		}
	}
	if asked.ID == nil {
		asked.ID = json.RawMessage("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, asked.ID, why)
}
