package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"reeve/agent/openai"
)

func TestEmbeddingsStandInTheOrderOfTheirTexts(t *testing.T) {
	p := &provider{answers: []func(*http.Request) (*http.Response, error){
		status(200, `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`)}}
	got, err := client(t, p, func(o *openai.Options) { o.Model = "vectors" }).Embed(t.Context(), []string{"a", "b"})
	if err != nil || len(got) != 2 || got[0][0] != 1 || got[1][1] != 4 {
		t.Errorf("got %v, %v", got, err)
	}
	if !strings.Contains(p.bodies[0], `"model":"vectors"`) || !strings.Contains(p.bodies[0], `["a","b"]`) {
		t.Errorf("sent %s", p.bodies[0])
	}
}

func TestEmbeddingsThatAreNotOneForEachTextAreRefused(t *testing.T) {
	for _, body := range []string{
		`{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[]}`, `{"data":[{"index":7,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`,
		`no JSON`,
	} {
		p := &provider{answers: []func(*http.Request) (*http.Response, error){status(200, body)}}
		if got, err := client(t, p).Embed(t.Context(), []string{"a", "b"}); err == nil {
			t.Errorf("%s became %v", body, got)
		}
	}
	p := &provider{answers: []func(*http.Request) (*http.Response, error){status(401, `{"error":{"message":"bad key `+key+`"}}`)}}
	if _, err := client(t, p).Embed(t.Context(), []string{"a"}); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a refused key gave %v", err)
	}
}

func TestASchemaIsAskedForUntilTheServerRefusesIt(t *testing.T) {
	p := &provider{answers: []func(*http.Request) (*http.Response, error){
		good, status(400, `{"error":{"message":"Unknown parameter: 'response_format'."}}`), good}}
	c, asked := client(t, p), hello
	asked.Schema = json.RawMessage(`{"type":"object"}`)
	for range 3 {
		if reply, err := c.Complete(t.Context(), asked); err != nil || reply.Text != "hi" {
			t.Fatalf("got %q, %v", reply.Text, err)
		}
	}
	for i, want := range []bool{true, true, false, false} {
		if got := strings.Contains(p.bodies[i], `"json_schema"`); got != want {
			t.Errorf("request %d asks for a schema: %v", i+1, got)
		}
	}
}
