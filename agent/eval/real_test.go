//go:build eval

package eval

import (
	"os"
	"testing"
	"time"

	"reeve/agent/openai"
)

// TestEval measures the model that OPENAI_* names, and as router the one of
// ROUTER_MODEL. It prints and judges nothing.
func TestEval(t *testing.T) {
	name := os.Getenv("OPENAI_MODEL")
	if name == "" {
		t.Fatal("OPENAI_MODEL is not set: make eval measures a real model, at its provider's prices")
	}
	router := os.Getenv("ROUTER_MODEL")
	if router == "" {
		router = name
	}
	model := func(name string, waits []time.Duration) *openai.Client {
		client, err := openai.New(openai.Options{
			BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: name, Waits: waits,
		})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	scores := all(t.Context(), t, model(router, []time.Duration{}), model(name, nil))
	t.Logf("%s, as router %s\n%s", name, router, table(scores))
}
