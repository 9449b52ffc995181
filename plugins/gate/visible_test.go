package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"reeve/plugins/gate"
)

// A card shows arguments whole, as what they are: JSON that reads as the arguments
// do, in which nothing hides.
func TestS1_ArgumentsAreShownWhole(t *testing.T) {
	for written, want := range map[string]string{
		`{"b":1,"a":"x"}`:                            "{\n  \"b\": 1,\n  \"a\": \"x\"\n}",
		`{"a":"\u003c@U1\u003e \u0026"}`:             "{\n  \"a\": \"<@U1> &\"\n}",
		`{"a":"\\u003c"}`:                            "{\n  \"a\": \"\\\\u003c\"\n}", // a backslash, and then letters
		`{"a":"two\nlines\t\""}`:                     "{\n  \"a\": \"two\\nlines\\t\\\"\"\n}",
		"{\"a\":\"x\u200by\u202ez\u00a0\"}":          "{\n  \"a\": \"x\\u200by\\u202ez\\u00a0\"\n}",
		"{\"a\":\"\u3164\U000e0041\U0001f600\"}":     "{\n  \"a\": \"\\u3164\\udb40\\udc41\U0001f600\"\n}",
		"{\"a\":\"\U00016fe4\U0001d159\U00013441\"}": "{\n  \"a\": \"\\ud81b\\udfe4\\ud834\\udd59\\ud80d\\udc41\"\n}",
		`{}`: "{}",
	} {
		got := gate.Visible(json.RawMessage(written))
		if got != want {
			t.Errorf("%s is shown as %s, want %s", written, got, want)
		}
		var is, shown any
		if json.Unmarshal([]byte(written), &is) != nil || json.Unmarshal([]byte(got), &shown) != nil {
			t.Fatalf("%s: no JSON", got)
		}
		a, _ := json.Marshal(is)
		if b, _ := json.Marshal(shown); string(a) != string(b) {
			t.Errorf("%s reads as %s", written, b)
		}
	}
	// What no card has room for costs no more than its length.
	deep := `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	if got := gate.Visible(json.RawMessage(deep)); len(got) != len(deep) {
		t.Errorf("%d bytes are shown as %d", len(deep), len(got))
	}
	nested := `{"a":` + strings.Repeat("[", 8000) + strings.Repeat("]", 8000) + `}`
	if got := gate.Visible(json.RawMessage(nested)); len(got) != len(nested) {
		t.Errorf("%d bytes are shown as %d", len(nested), len(got))
	}
}
