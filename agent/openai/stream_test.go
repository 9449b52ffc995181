package openai_test

import (
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/agent"
	"reeve/agent/openai"
	"reeve/agent/scripted"
	"reeve/runtime/chat"
)

func TestAnswersArePutTogether(t *testing.T) {
	piece := func(call string) string { return `{"choices":[{"index":0,"delta":{"tool_calls":[` + call + `]}}]}` }
	one := chat.ToolCall{ID: "a", Tool: "look", Arguments: `{"x":1}`}
	two := chat.ToolCall{ID: "b", Tool: "put", Arguments: `{}`}
	tests := []struct {
		name   string
		chunks []string
		want   agent.Reply
	}{
		{"text in pieces", []string{text("a"), text("b "), text("c"), finish("stop"), done}, agent.Reply{Text: "ab c"}},
		{"usage at the end", []string{text("a"), finish("stop"), `{"choices":[],"usage":{"total_tokens":42}}`, done}, agent.Reply{Text: "a", Tokens: 42}},
		{"no [DONE]", []string{text("a"), finish("stop")}, agent.Reply{Text: "a"}},
		{"reason with the last text", []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, done}, agent.Reply{Text: "a"}},
		{"other choices are not mixed in", []string{`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}`, finish("stop"), done}, agent.Reply{Text: "yes"}},
		{"refusal", []string{`{"choices":[{"index":0,"delta":{"refusal":"I will not"}}]}`, finish("stop"), done}, agent.Reply{Text: "I will not"}},
		{"cut by length", []string{text("long"), finish("length"), done}, agent.Reply{Text: "long\n\n_(My answer ends here because it reached the model's length limit.)_"}},
		{"two calls, interleaved", []string{
			piece(`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`), piece(`{"index":1,"id":"b","function":{"name":"put","arguments":"{"}}`),
			piece(`{"index":0,"function":{"arguments":"{\"x\""}}`), piece(`{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":":1}"}}`),
			finish("tool_calls"), done}, agent.Reply{Calls: []chat.ToolCall{one, two}}},
		{"whole calls without index", []string{piece(`{"id":"a","function":{"name":"look","arguments":"{\"x\":1}"}}`), piece(`{"id":"b","function":{"name":"put","arguments":"{}"}}`), finish("tool_calls"), done},
			agent.Reply{Calls: []chat.ToolCall{one, two}}},
		{"all at index 0", []string{piece(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\":1}"}}`), piece(`{"index":0,"id":"b","function":{"name":"put","arguments":"{}"}}`), finish("stop"), done},
			agent.Reply{Calls: []chat.ToolCall{one, two}}},
		{"id and name repeated", []string{piece(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\""}}`), piece(`{"index":0,"id":"a","function":{"name":"look","arguments":":1}"}}`), finish("tool_calls"), done},
			agent.Reply{Calls: []chat.ToolCall{one}}},
		{"pieces without index", []string{piece(`{"id":"a","function":{"name":"look","arguments":"{\"x\""}}`), piece(`{"function":{"arguments":":1}"}}`), finish("tool_calls"), done},
			agent.Reply{Calls: []chat.ToolCall{one}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &provider{answers: []func(*http.Request) (*http.Response, error){stream(test.chunks...)}}
			got, err := client(t, p).Complete(t.Context(), hello)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLineEndAndKeepAliveComments(t *testing.T) {
	body := ": OPENROUTER PROCESSING\r\n\r\n" + strings.Repeat(": ping\n\n", 1000) + "data: " + text("hi") + "\r\n\r\nevent: x\ndata: " + finish("stop")
	p := &provider{answers: []func(*http.Request) (*http.Response, error){status(200, body)}}
	if got, err := client(t, p).Complete(t.Context(), hello); err != nil || got.Text != "hi" || len(p.asked) != 1 {
		t.Errorf("got %q, %v in %d attempts", got.Text, err, len(p.asked))
	}
}

func server(t *testing.T, steps ...scripted.Step) *scripted.Server {
	t.Helper()
	s, err := scripted.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Then(steps...)
	return s
}

func real(t *testing.T, s *scripted.Server) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Options{
		BaseURL: s.URL(), APIKey: key, Model: "m",
		Waits: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond},
		Idle:  200 * time.Millisecond, Attempt: 400 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOverTheWire(t *testing.T) {
	for _, fault := range []scripted.Fault{scripted.HangFault, scripted.SilentFault, scripted.DripFault, scripted.CutFault, scripted.UnfinishedFault, scripted.GarbageFault} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			s := server(t, scripted.Faulty(fault), scripted.Status(503, "0.01"), scripted.Empty(), scripted.Step{Text: "a whole answer", Tokens: 7})
			got, err := real(t, s).Complete(t.Context(), hello)
			if err != nil || got.Text != "a whole answer" || got.Tokens != 7 || len(s.Requests()) != 4 {
				t.Errorf("got %+v, %v after %d requests", got, err, len(s.Requests()))
			}
		})
		t.Run(string(fault)+" for ever", func(t *testing.T) {
			t.Parallel()
			s := server(t)
			s.Otherwise(func(scripted.Request) scripted.Step { return scripted.Faulty(fault) })
			got, err := real(t, s).Complete(t.Context(), hello)
			if kind := kindOf(t, err); kind != agent.ModelUnreachable || got.Text != "" || len(s.Requests()) != 5 {
				t.Errorf("got %+v, %s after %d requests", got, kind, len(s.Requests()))
			}
		})
	}
}

func TestRequestOverTheWire(t *testing.T) {
	s := server(t, scripted.Calls(scripted.Call("a", "look", map[string]int{"x": 1}), scripted.Call("b", "look", "{bad")))
	req := hello
	req.Messages = append(req.Messages,
		agent.Message{Role: chat.AssistantRole, Calls: []chat.ToolCall{{ID: "z", Tool: "look", Arguments: "{}"}}},
		agent.Message{Role: chat.ToolRole, CallID: "z", Content: "red"})
	req.Tools = []agent.ToolSpec{{Name: "look", Description: "d", Parameters: []byte(`{"type":"object","properties":{}}`)}}
	got, err := real(t, s).Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := []chat.ToolCall{{ID: "a", Tool: "look", Arguments: `{"x":1}`}, {ID: "b", Tool: "look", Arguments: "{bad"}}
	if diff := cmp.Diff(want, got.Calls); diff != "" {
		t.Error(diff)
	}
	sent := s.Requests()[0]
	if !sent.Stream || sent.Model != "m" || sent.Authorization != "Bearer "+key || sent.Tools[0].Function.Name != "look" {
		t.Errorf("sent %s", sent.Raw)
	}
	if m := sent.Messages; len(m) != 4 || m[0].Role != "system" || m[1].Content != "hello" || m[2].ToolCalls[0].ID != "z" || m[3].ToolCallID != "z" || m[3].Content != "red" {
		t.Errorf("sent %s", sent.Raw)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	s := server(t, scripted.Answer("one"), scripted.Step{Text: "two", Tokens: 3}, scripted.Answer("three"))
	c := real(t, s)
	fresh := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			fresh++
		}
	}})
	for range 3 {
		if _, err := c.Complete(ctx, hello); err != nil {
			t.Fatal(err)
		}
	}
	if fresh != 1 {
		t.Errorf("%d connections for three answers", fresh)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for _, o := range []openai.Options{{}, {Model: "m", BaseURL: "ftp://x"}, {Model: "m", BaseURL: "http://user:secret@%zz"}, {Model: "m", BaseURL: "localhost:8080"}} {
		_, err := openai.New(o)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// FuzzStream: whatever a server sends, the client ends, and what it takes for
// an answer has content.
func FuzzStream(f *testing.F) {
	f.Add("data: " + text("hi") + "\n\ndata: " + finish("stop") + "\n\ndata: [DONE]\n\n")
	f.Add(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":3,"id":"a"},{"id":"a"},{}]},"finish_reason":"stop"}]}`)
	f.Add("data: {\"error\": null}\n\n: x\n\nevent: y\ndata:")
	f.Fuzz(func(t *testing.T, body string) {
		p := &provider{answers: []func(*http.Request) (*http.Response, error){status(200, body)}}
		got, err := client(t, p, func(o *openai.Options) { o.Waits = []time.Duration{} }).Complete(t.Context(), hello)
		if err == nil && strings.TrimSpace(got.Text) == "" && len(got.Calls) == 0 {
			t.Error("an empty answer passed for one")
		}
		if len(p.asked) != 1 {
			t.Errorf("%d attempts", len(p.asked))
		}
	})
}
