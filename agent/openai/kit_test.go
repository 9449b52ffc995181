package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"reeve/agent"
	"reeve/agent/openai"
	"reeve/runtime/chat"
)

const key = "sk-test-0123456789abcdef"

var hello = agent.Request{System: "rules", Messages: []agent.Message{{Role: chat.UserRole, Content: "hello"}}}

// provider answers requests within the test's own time.
type provider struct {
	answers []func(*http.Request) (*http.Response, error) // the last one again and again
	asked   []time.Time
	bodies  []string
}

func (p *provider) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	answer := p.answers[min(len(p.asked), len(p.answers)-1)]
	p.asked, p.bodies = append(p.asked, time.Now()), append(p.bodies, string(body))
	return answer(req)
}

func status(code int, body string, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i+1 < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func stream(chunks ...string) func(*http.Request) (*http.Response, error) {
	return status(http.StatusOK, "data: "+strings.Join(chunks, "\n\ndata: ")+"\n\n")
}

func text(s string) string { return `{"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` }

func finish(s string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + s + `"}]}`
}

const done = "[DONE]"

func client(t *testing.T, p *provider, change ...func(*openai.Options)) *openai.Client {
	t.Helper()
	o := openai.Options{BaseURL: "http://model.test/v1", APIKey: key, Model: "m", Transport: p}
	for _, c := range change {
		c(&o)
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func kindOf(t *testing.T, err error) agent.FailureKind {
	t.Helper()
	var failure *agent.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a failure", err)
	}
	return failure.Kind
}
