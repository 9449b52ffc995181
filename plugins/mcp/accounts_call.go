package mcp

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins"
)

// callWithAccount makes one call with the account of its turn's actor, in a session that is this
// call's alone: no other call, and nobody else's, ever travels in it. It costs two
// requests before the call and one after it.
func (s *server) callWithAccount(ctx context.Context, call plugins.Call, tool string, effect plugins.Effect, arguments json.RawMessage) (plugins.Result, error) {
	account := call.Account
	if account == nil || account.HTTP == nil {
		return failed("There is no account of the person for whom you act at the MCP server %s, so that the call was not made.", s.config.name), nil
	}
	said := &refusals{}
	session, err := s.accountSession(ctx, account, said)
	if err != nil {
		if ctx.Err() != nil {
			return plugins.Result{}, ctx.Err()
		}
		if result, refused := s.refused(ctx, said, call, tool); refused {
			return result, nil
		}
		s.log.Warn("a session with the MCP server failed", "tool", line(tool), "err", s.mask.err(err))
		return failed("The MCP server %s did not answer, so that the call was not made.", s.config.name), nil
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil && ctx.Err() == nil {
		if result, refused := s.refused(ctx, said, call, tool); refused {
			return result, nil
		}
	}
	return s.answer(ctx, result, err, tool, effect)
}

// accountSession begins one, in the way that did the last time.
func (s *server) accountSession(ctx context.Context, account *plugins.Account, said *refusals) (*sdk.ClientSession, error) {
	begin := func(v version) (*sdk.ClientSession, error) {
		client := sdk.NewClient(&sdk.Implementation{Name: "reeve", Version: "1"}, &sdk.ClientOptions{
			Capabilities: &sdk.ClientCapabilities{}, Logger: slog.New(slog.DiscardHandler),
		})
		return client.Connect(ctx, s.transport(account, said), &sdk.ClientSessionOptions{ProtocolVersion: string(v)})
	}
	v := older
	if s.newer.Load() {
		v = newer
	}
	session, err := begin(v)
	if err == nil || ctx.Err() != nil || said.status() != 0 {
		return session, err
	}
	if session, again := begin(v.other()); again == nil {
		s.newer.Store(v.other() == newer)
		return session, nil
	}
	return nil, err
}

// transport speaks with the server by way of an account. Its token is put in
// behind, where nothing here sees it.
func (s *server) transport(account *plugins.Account, said *refusals) *sdk.StreamableClientTransport {
	limit := s.hub.options.MaxMessage
	to := &roundTripper{
		base: account.HTTP.Transport, headers: s.config.Headers, limit: limit,
		dropped: func(why string) { s.log.Debug("left out " + why) }, lost: func() {}, answered: said.note,
	}
	endpoint := s.config.URL
	if u, err := url.Parse(s.config.URL); err == nil { // it was checked
		to.host = u.Host
		if u.Path == "" {
			u.Path = "/"
			endpoint = u.String()
		}
	}
	follow := func(next *http.Request, via []*http.Request) error {
		if err := sameHost(next, via); err != nil || account.HTTP.CheckRedirect == nil {
			return err
		}
		return account.HTTP.CheckRedirect(next, via)
	}
	return &sdk.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: quickDelete{to, s.hub.options.Grace}, CheckRedirect: follow},
		MaxEventSize: 2 * limit, DisableStandaloneSSE: true, MaxRetries: -1,
	}
}

// quickDelete bounds how long a server may take to end a session (which is what
// DELETE does), for which a result would wait.
type quickDelete struct {
	next  http.RoundTripper
	limit time.Duration
}

func (q quickDelete) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodDelete {
		return q.next.RoundTrip(request)
	}
	ctx, cancel := context.WithTimeout(request.Context(), q.limit)
	response, err := q.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = bounded{response.Body, cancellingCloser{response.Body, cancel}}
	return response, nil
}

// cancellingCloser cancels a request's context when its answer is read.
type cancellingCloser struct {
	io.Closer
	cancel context.CancelFunc
}

func (c cancellingCloser) Close() error {
	defer c.cancel()
	return c.Closer.Close()
}

// refusals is how a server has refused the token of a call.
type refusals struct {
	mu   sync.Mutex
	code int
	last refusal
}

func (r *refusals) note(response *http.Response) {
	if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden || response.Request.Method == http.MethodDelete {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code, r.last = response.StatusCode, readRefusal(response.Header)
}

func (r *refusals) status() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.code
}

// refused says what a refusal means. Where the token is not taken any more its
// keeper has noticed, so that the next call asks for a new account. Nothing else
// that a server says of whom to ask for tokens is heard here.
func (s *server) refused(ctx context.Context, said *refusals, call plugins.Call, tool string) (plugins.Result, bool) {
	said.mu.Lock()
	code, last := said.code, said.last
	said.mu.Unlock()
	switch {
	case code == http.StatusUnauthorized:
		return failed("The MCP server %s does not take the account of the person for whom you act, so that the call was not made. If it is still wanted, make the call again: the person is then asked to connect the account anew.", s.config.name), true
	case code == http.StatusForbidden && last.code == "insufficient_scope":
		return s.stepUp(ctx, call, tool, last.scopes), true
	case code == http.StatusForbidden:
		return failed("The MCP server %s does not allow this call to the account of the person for whom you act.", s.config.name), true
	}
	return plugins.Result{}, false
}
