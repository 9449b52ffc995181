// Package tracker plays MCP servers at which each person has an account of his
// own: the plugin, the gate, accounts as they are really kept and spent, a server
// of the SDK's behind its own check of tokens, and who gives them.
package tracker

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// canary is in every token, so that it can be looked for everywhere.
const canary = "canary" + "4711"

// site is an MCP server and its authorization server, each at an address of its own.
type site struct {
	t           *testing.T
	mcp, issuer *httptest.Server
	path        string // of the server; "/mcp"

	mu         sync.Mutex
	meta       oauthex.AuthServerMeta
	resource   oauthex.ProtectedResourceMetadata
	challenge  string // what a 401 says; empty: as it should be
	audience   string // of tokens; empty: what was asked for
	says       string // the iss of tokens; empty: the issuer
	codes      map[string]code
	registered int
	forms      []url.Values // at the token endpoint
	requests   []string     // at the server: method, session and subject
	refuse     map[string]bool
	insatiable bool // no scope is enough for the tool change
	lifetime   time.Duration
}

type code struct{ challenge, redirect, scope, resource, subject string }

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, path: "/mcp", codes: map[string]code{}, refuse: map[string]bool{}, lifetime: time.Hour}
	s.issuer = httptest.NewServer(http.HandlerFunc(s.serveIssuer))
	t.Cleanup(s.issuer.Close)
	s.mcp = httptest.NewServer(nil)
	t.Cleanup(func() { s.mcp.CloseClientConnections(); s.mcp.Close() })
	at := s.issuer.URL
	s.meta = oauthex.AuthServerMeta{
		Issuer: at, AuthorizationEndpoint: at + "/authorize", TokenEndpoint: at + "/token", RegistrationEndpoint: at + "/register",
		ResponseTypesSupported: []string{"code"}, CodeChallengeMethodsSupported: []string{"S256"},
		TokenEndpointAuthMethodsSupported: []string{"none", "client_secret_post"}, AuthorizationResponseIssParameterSupported: true,
	}
	s.resource = oauthex.ProtectedResourceMetadata{Resource: s.url(), AuthorizationServers: []string{at}, ScopesSupported: []string{"read"}}
	s.mcp.Config.Handler = s.handler()
	return s
}

func (s *site) url() string { return s.mcp.URL + s.path }

// ports are those of the site.
func (s *site) ports() []uint16 {
	var list []uint16
	for _, server := range []*httptest.Server{s.mcp, s.issuer} {
		_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
		n, _ := strconv.Atoi(port)
		list = append(list, uint16(n))
	}
	return list
}

func (s *site) change(with func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	with()
}

// handler is the MCP server.
func (s *site) handler() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "tracker", Version: "1"}, nil)
	text := func(text string) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	}
	for _, name := range []string{"whoami", "change", "headers"} {
		sdk.AddTool(server, &sdk.Tool{Name: name, Description: "Of the server."}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			if name == "headers" {
				said := r.Extra.Header.Get("Authorization")
				return text(fmt.Sprintln(r.Extra.Header, base64.StdEncoding.EncodeToString([]byte(said)), hex.EncodeToString([]byte(said)), url.QueryEscape(said)))
			}
			return text("you are " + r.Extra.TokenInfo.UserID)
		})
	}
	streamable := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	s.t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	checked := auth.RequireBearerToken(s.verify, nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := auth.TokenInfoFromContext(r.Context())
		s.change(func() {
			s.requests = append(s.requests, r.Method+" "+r.Header.Get("Mcp-Session-Id")+" "+info.UserID)
		})
		body := new(strings.Builder)
		if r.Method == http.MethodPost {
			r.Body = teeing(r.Body, body)
		}
		s.mu.Lock()
		insatiable := s.insatiable
		s.mu.Unlock()
		if strings.Contains(body.String(), `"change"`) && (insatiable || !slices.Contains(info.Scopes, "write")) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		streamable.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		resource, challenge := s.resource, s.challenge
		s.mu.Unlock()
		if r.URL.Path == "/.well-known/oauth-protected-resource"+s.path {
			auth.ProtectedResourceMetadataHandler(&resource).ServeHTTP(w, r)
			return
		}
		if r.URL.Path != s.path {
			http.NotFound(w, r)
			return
		}
		if challenge == "" {
			challenge = s.mcp.URL + "/.well-known/oauth-protected-resource" + s.path
		}
		checked.ServeHTTP(challenging{w, challenge}, r)
	})
}

// challenging says with a 401 where the metadata are.
type challenging struct {
	http.ResponseWriter
	metadata string
}

func (c challenging) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", c.metadata))
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c challenging) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

type saidToken struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Scope    string `json:"scope"`
	ID       string `json:"jti"`
}

// verify takes tokens for this server alone.
func (s *site) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	var said saidToken
	parts := strings.Split(token, ".")
	if len(parts) == 3 {
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.Unmarshal(text, &said)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if said.Audience != s.resource.Resource || said.Issuer != s.issuer.URL || s.refuse[said.Subject] {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: said.Subject, Scopes: strings.Fields(said.Scope), Expiration: time.Now().Add(time.Hour)}, nil
}

// serveIssuer is the authorization server.
func (s *site) serveIssuer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer := func(status int, value any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(value)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		answer(http.StatusOK, s.meta)
	case "/register":
		var asked oauthex.ClientRegistrationMetadata
		_ = json.NewDecoder(r.Body).Decode(&asked)
		s.registered++
		answer(http.StatusCreated, map[string]any{"client_id": "made-up-client", "redirect_uris": asked.RedirectURIs, "token_endpoint_auth_method": "none"})
	case "/token":
		_ = r.ParseForm()
		s.forms = append(s.forms, r.PostForm)
		c, ok := s.codes[r.PostForm.Get("code")]
		delete(s.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge || r.PostForm.Get("resource") != c.resource {
			answer(http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		said := saidToken{s.issuer.URL, c.subject, c.resource, c.scope, canary + "-" + c.subject}
		if s.audience != "" {
			said.Audience = s.audience
		}
		if s.says != "" {
			said.Issuer = s.says
		}
		text, _ := json.Marshal(said)
		token := strings.Join([]string{base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"x"}`)), base64.RawURLEncoding.EncodeToString(text), canary}, ".")
		answer(http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(s.lifetime.Seconds()), "scope": c.scope})
	default:
		http.NotFound(w, r)
	}
}

// allow is somebody at the authorization server: where his browser goes back to.
func (s *site) allow(address, subject string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != strings.TrimPrefix(s.issuer.URL, "http://") || u.Query().Get("code_challenge_method") != "S256" {
		s.t.Fatalf("the browser is sent to %s: %v", address, err)
	}
	q := u.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprintf("code-%d", len(s.forms)+len(s.codes))
	s.codes[name] = code{q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("scope"), q.Get("resource"), subject}
	return q.Get("redirect_uri") + "?" + url.Values{"code": {name}, "state": {q.Get("state")}, "iss": {s.issuer.URL}}.Encode()
}
