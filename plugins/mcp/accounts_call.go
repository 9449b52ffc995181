package mcp

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins"
)

// callWith makes one call with somebody's account, in a session that is this
// call's alone: no other call, and nobody else's, ever travels in it. It costs two
// requests before the call and one after it.
func (s *server) callWith(ctx context.Context, account *plugins.Account, tool string, effect plugins.Effect, arguments json.RawMessage) (plugins.Result, error) {
	if account == nil || account.HTTP == nil {
		return failed("There is no account of the person for whom you act at the MCP server %s, so that the call was not made.", s.config.name), nil
	}
	said := &refusals{}
	session, err := s.session(ctx, account, said)
	if err != nil {
		if ctx.Err() != nil {
			return plugins.Result{}, ctx.Err()
		}
		if result, refused := s.refused(said, tool); refused {
			return result, nil
		}
		s.log.Warn("a session with the MCP server failed", "tool", line(tool), "err", s.mask.err(err))
		return failed("The MCP server %s did not answer, so that the call was not made.", s.config.name), nil
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil && ctx.Err() == nil {
		if result, refused := s.refused(said, tool); refused {
			return result, nil
		}
	}
	return s.answer(ctx, result, err, tool, effect)
}

// session begins one, in the way that did the last time.
func (s *server) session(ctx context.Context, account *plugins.Account, said *refusals) (*sdk.ClientSession, error) {
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
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: ending{to, s}, CheckRedirect: follow},
		MaxEventSize: 2 * limit, DisableStandaloneSSE: true, MaxRetries: -1,
	}
}

// ending bounds how long a server may take to end a session, for which a result
// would wait.
type ending struct {
	next http.RoundTripper
	s    *server
}

func (e ending) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodDelete {
		return e.next.RoundTrip(request)
	}
	ctx, cancel := context.WithTimeout(request.Context(), e.s.hub.options.Grace)
	response, err := e.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = bounded{response.Body, closing{response.Body, cancel}}
	return response, nil
}

type closing struct {
	io.Closer
	cancel context.CancelFunc
}

func (c closing) Close() error {
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
func (s *server) refused(said *refusals, tool string) (plugins.Result, bool) {
	said.mu.Lock()
	code, last := said.code, said.last
	said.mu.Unlock()
	switch {
	case code == http.StatusUnauthorized:
		return failed("The MCP server %s does not take the account of the person for whom you act, so that the call was not made. If it is still wanted, make the call again: the person is then asked to connect the account anew.", s.config.name), true
	case code == http.StatusForbidden && last.code == "insufficient_scope":
		return s.stepUp(tool, last.scopes), true
	case code == http.StatusForbidden:
		return failed("The MCP server %s does not allow this call to the account of the person for whom you act.", s.config.name), true
	}
	return plugins.Result{}, false
}

// stepUp has the next call of a tool ask for more scopes, if the operator lets it.
func (s *server) stepUp(tool string, wanted []string) plugins.Result {
	const notMade = "The call was not made: the MCP server %s wants more rights for it than the account of the person for whom you act has granted"
	allowed := append(slices.Clone(s.config.oauth.Scopes), s.config.oauth.MoreScopes...)
	allowed = append(allowed, s.config.tools[tool].Scopes...)
	for _, scope := range wanted {
		if !slices.Contains(allowed, scope) {
			s.log.Warn("the MCP server wants a scope that the file does not allow", "tool", line(tool), "scope", line(scope))
			return failed(notMade+", and more than it may be asked for here. Only whoever runs the bot can change that.", s.config.name)
		}
	}
	if !s.need(tool, wanted) {
		return failed(notMade+", and does not say which.", s.config.name)
	}
	return failed(notMade+" (%s). If it is still wanted, make the call again: the person is then asked for them.", s.config.name, strings.Join(wanted, ", "))
}

// need adds scopes to those of a tool. It answers false where all are there.
func (s *server) need(tool string, wanted []string) bool {
	name := toolNames(s.config.id, s.catalogNames())[tool]
	s.mu.Lock()
	built, more := slices.Clone(s.built), false
	for i := range built {
		if built[i].Name != name {
			continue
		}
		for _, scope := range wanted {
			if !slices.Contains(built[i].Scopes, scope) {
				built[i].Scopes, more = append(slices.Clone(built[i].Scopes), scope), true
			}
		}
	}
	s.built = built
	s.mu.Unlock()
	if more {
		s.hub.offer()
	}
	return more
}

func (s *server) catalogNames() []string {
	names := make([]string, len(s.config.catalog))
	for i, tool := range s.config.catalog {
		names[i] = tool.Name
	}
	return names
}
