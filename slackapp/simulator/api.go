package simulator

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// method is one Web API method: what answers it, with the lock held, and the
// scope it needs. Methods whose scope depends on the channel check it
// themselves.
type method struct {
	answer func(*Server, args) (answer, error)
	scope  string
	tier   int // calls a minute; 0 is unlimited
}

type answer map[string]any

var methods map[string]method

func init() { // the table names functions that lead back to it
	methods = map[string]method{
		"api.test":                              {answer: func(_ *Server, a args) (answer, error) { return answer{"args": a.values}, nil }},
		"auth.test":                             {answer: (*Server).authTest},
		"bots.info":                             {(*Server).botsInfo, "users:read", 50},
		"team.info":                             {(*Server).teamInfo, "", 50},
		"users.info":                            {(*Server).usersInfo, "users:read", 100},
		"users.conversations":                   {(*Server).usersConversations, "", 50},
		"users.list":                            {(*Server).usersList, "users:read", 20},
		"reactions.add":                         {(*Server).reactionsAdd, "reactions:write", 50},
		"reactions.get":                         {(*Server).reactionsGet, "reactions:read", 50},
		"chat.delete":                           {(*Server).chatDelete, "chat:write", 50},
		"chat.update":                           {(*Server).chatUpdate, "chat:write", 50},
		"files.info":                            {(*Server).filesInfo, "files:read", 100},
		"views.open":                            {(*Server).viewsOpen, "", 100},
		"views.publish":                         {(*Server).viewsPublish, "", 100},
		"views.update":                          {(*Server).viewsUpdate, "", 100},
		"views.push":                            {(*Server).viewsOpen, "", 100},
		"chat.appendStream":                     {(*Server).appendStream, "chat:write", 100},
		"chat.getPermalink":                     {(*Server).chatPermalink, "", 0},
		"chat.postEphemeral":                    {(*Server).postEphemeral, "chat:write", 100},
		"chat.postMessage":                      {(*Server).postMessage, "chat:write", 0},
		"chat.startStream":                      {(*Server).startStream, "chat:write", 20},
		"chat.stopStream":                       {(*Server).stopStream, "chat:write", 20},
		"conversations.history":                 {(*Server).conversationsHistory, "", 50},
		"conversations.info":                    {(*Server).conversationsInfo, "", 50},
		"conversations.list":                    {(*Server).conversationsList, "", 20},
		"conversations.members":                 {(*Server).conversationsMembers, "", 100},
		"conversations.open":                    {(*Server).conversationsOpen, "", 50},
		"conversations.replies":                 {(*Server).conversationsReplies, "", 50},
		"reactions.remove":                      {(*Server).reactionsRemove, "reactions:write", 50},
		"agents.sessions.rename":                {(*Server).sessionRename, "chat:write", 50},
		"agents.sessions.setStatus":             {(*Server).sessionStatus, "chat:write", 50},
		"files.getUploadURLExternal":            {(*Server).uploadURL, "files:write", 100},
		"files.completeUploadExternal":          {(*Server).completeUpload, "files:write", 100},
		"assistant.threads.setSuggestedPrompts": {(*Server).suggestedPrompts, "assistant:write", 100},
		"apps.connections.open":                 {(*Server).connectionsOpen, "connections:write", 50},
	}
}

// emailScope is what shows the addresses in people's profiles, whatever method
// reads them.
const emailScope = "users:read.email"

// AllScopes are the bot scopes that some method here asks for.
func AllScopes() []string {
	scopes := []string{"app_mentions:read", "assistant:write", "commands", emailScope}
	for _, kind := range []string{"channels", "groups", "im", "mpim"} {
		scopes = append(scopes, kind+":history", kind+":read", kind+":write")
	}
	for _, m := range methods {
		if m.scope != "" && m.scope != "connections:write" {
			scopes = append(scopes, m.scope)
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// Error is an ok:false answer.
type Error struct {
	Code string
	// Messages go into response_metadata.
	Messages []string
	// Needed and Provided belong to missing_scope.
	Needed, Provided string
}

func (e *Error) Error() string { return "slack answered " + e.Code }

func fail(code string, messages ...string) error { return &Error{Code: code, Messages: messages} }

// Call is one Web API call and what was answered.
type Call struct {
	Method string            `json:"method"`
	Args   map[string]string `json:"args"` // without the token
	At     time.Time         `json:"at"`   // when it came in
	Status int               `json:"status"`
	OK     bool              `json:"ok"`
	Error  string            `json:"error,omitempty"`
	// Lost: it was carried out, or tried, and its answer cut off.
	Lost bool `json:"lost,omitempty"`
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	a, err := readArgs(r)
	tok := token(r, a)
	call := Call{Method: name, Args: maps.Clone(a.values), At: s.o.Now(), Status: http.StatusOK}
	if !s.passHold(r, name) {
		return
	}
	s.mu.Lock()
	fault := s.takeFault(name)
	var result answer
	switch {
	case err != nil:
	case fault.instead():
		call.Status, err = fault.refusal(w.Header())
	default:
		if wait := s.overLimit(name, a); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(wait))
			call.Status, err = http.StatusTooManyRequests, fail("ratelimited")
			break
		}
		result, err = s.carryOut(name, tok, a)
	}
	call.OK = err == nil
	call.Lost = fault != nil && fault.LoseAnswer
	var e *Error
	if errors.As(err, &e) {
		call.Error = e.Code
	}
	s.calls = trimmed(append(s.calls, call))
	s.record(Event{Kind: Called, Call: &call})
	s.mu.Unlock()

	if fault != nil && !fault.delay(r.Context(), s.done) {
		return
	}
	if call.Lost {
		cut(w)
		return
	}
	if name == "auth.test" && e == nil {
		w.Header().Set("X-OAuth-Scopes", strings.Join(s.o.Scopes, ","))
	}
	writeAnswer(w, call.Status, result, e)
}

// carryOut checks the token and the scope and runs the method. The lock is
// held.
func (s *Server) carryOut(name, tok string, a args) (answer, error) {
	m, known := methods[name]
	switch {
	case !known:
		return nil, fail("unknown_method")
	case name == "api.test":
	case tok == "":
		return nil, fail("not_authed")
	case tok != s.o.BotToken && tok != s.o.AppToken:
		return nil, fail("invalid_auth")
	case (name == "apps.connections.open") != (tok == s.o.AppToken):
		return nil, fail("not_allowed_token_type")
	case tok == s.o.BotToken && m.scope != "":
		if err := s.needScope(m.scope); err != nil {
			return nil, err
		}
	}
	return m.answer(s, a)
}

func (s *Server) needScope(scope string) error {
	if slices.Contains(s.o.Scopes, scope) {
		return nil
	}
	return &Error{Code: "missing_scope", Needed: scope, Provided: strings.Join(s.o.Scopes, ",")}
}

func writeAnswer(w http.ResponseWriter, status int, result answer, e *Error) {
	out := answer{"ok": e == nil}
	maps.Copy(out, result)
	if e != nil {
		out["error"] = e.Code
		if e.Needed != "" {
			out["needed"], out["provided"] = e.Needed, e.Provided
		}
		if len(e.Messages) > 0 {
			out["response_metadata"] = map[string]any{"messages": e.Messages}
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // a client that has gone is no fault of ours
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			conn.Close()
		}
	}
}

// Calls are the calls of a method so far, oldest first; all with "".
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			c.Args = maps.Clone(c.Args)
			out = append(out, c)
		}
	}
	return out
}
