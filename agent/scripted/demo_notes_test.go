package scripted_test

import (
	"encoding/json"
	"strings"
	"testing"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/runtime/chat"
)

func TestDemoNoticesHowAPersonLikesThings(t *testing.T) {
	ask := func(schema, given string) string {
		t.Helper()
		reply, err := scripted.NewDemo(0).Complete(t.Context(), agent.Request{
			Schema: json.RawMessage(schema), Messages: []agent.Message{{Role: chat.UserRole, Content: given}},
		})
		if err != nil || !json.Valid([]byte(reply.Text)) {
			t.Fatalf("answered %q, %v", reply.Text, err)
		}
		return reply.Text
	}
	const memories, verdicts = `{"properties":{"memories":{}}}`, `{"properties":{"verdicts":{}}}`
	if got := ask(memories, `[{"entry":1,"text":"Look at this. I prefer terse code reviews, please."}]`); !strings.Contains(got, `"span":"I prefer terse code reviews, please"`) {
		t.Errorf("noticed %s", got)
	}
	if got := ask(memories, `[{"entry":1,"author":"T1:UBOB","text":"I prefer terse code reviews."}]`); strings.Contains(got, "terse") {
		t.Errorf("noticed of several people %s", got)
	}
	if got := ask(memories, `no list`); got != `{"memories":[]}` {
		t.Errorf("noticed %s", got)
	}
	if got := ask(verdicts, `[{"memory":1,"text":"a"},{"memory":2,"text":"b"}]`); strings.Count(got, `"sensitive":false`) != 2 {
		t.Errorf("cleared %s", got)
	}
	if got := ask(`{"properties":{"other":{}}}`, `x`); got != "{}" {
		t.Errorf("answered %s", got)
	}
}
