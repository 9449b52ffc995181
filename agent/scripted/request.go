package scripted

import (
	"encoding/json"
	"strings"
)

// Request is what a client sent to a Server.
type Request struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Tools    []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream        bool `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	// Format is set where an answer of a form is asked for, as memory does after
	// a turn.
	Format json.RawMessage `json:"response_format"`
	// Raw is the whole body.
	Raw json.RawMessage `json:"-"`
	// Authorization is the header of that name.
	Authorization string `json:"-"`
}

// Message is one message of a Request.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Count is how often text stands in the messages but the system's, whatever
// message it is in.
func (r Request) Count(text string) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role != "system" {
			n += strings.Count(m.Content, text)
		}
	}
	return n
}

// With is the messages of a role that hold text.
func (r Request) With(role, text string) []Message {
	var found []Message
	for _, m := range r.Messages {
		if m.Role == role && strings.Contains(m.Content, text) {
			found = append(found, m)
		}
	}
	return found
}
