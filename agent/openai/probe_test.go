package openai

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func providerAnswering(t *testing.T, status int, kind, body string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || !strings.Contains(string(asked), `"model":"m"`) || !strings.Contains(string(asked), `"stream":true`) {
			t.Errorf("asked %s: %s", r.URL, asked)
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1/"
}

func TestProbe(t *testing.T) {
	const stream, json = "text/event-stream", "application/json"
	for _, c := range []struct {
		name   string
		status int
		kind   string
		body   string
		want   string // the error; empty: none
	}{
		{"answers", 200, stream, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: [DONE]\n\n", ""},
		{"says nothing", 200, stream, "data: [DONE]\n\n", "the provider answers 200 (an empty answer)"},
		{"wrong key", 401, json, `{"error":{"message":"Incorrect API key provided: sk-abc","code":"invalid_api_key"}}`, "the provider answers 401 (invalid_api_key)"},
		{"type only", 429, json, `{"error":{"message":"x","type":"insufficient_quota"}}`, "the provider answers 429 (insufficient_quota)"},
		{"text for a code", 400, json, `{"error":{"message":"x","code":"key sk-abc is bad"}}`, "the provider answers 400"},
		{"no JSON", 404, "text/html", "<html>sk-abc</html>", "the provider answers 404"},
	} {
		err := Probe(t.Context(), providerAnswering(t, c.status, c.kind, c.body), "key", "m")
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestProbeTellsAbsenceFromRefusal(t *testing.T) {
	err := Probe(t.Context(), "http://127.0.0.1:1/v1", "key", "m")
	if err == nil || errors.As(err, new(*ProbeRefused)) {
		t.Errorf("nobody listens: got %v", err)
	}
}
