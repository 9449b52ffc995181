package gate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

type arguments struct {
	City string `json:"city" jsonschema:"the city's name"`
	Days int    `json:"days,omitempty"`
}

type act func(ctx context.Context, call plugins.Call, in arguments) (plugins.Result, error)

func says(text string) act {
	return func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
		return plugins.Result{Text: text}, nil
	}
}

func tool(t *testing.T, name string, effect plugins.Effect, call act) plugins.Tool {
	t.Helper()
	made, err := plugins.NewTool(plugins.Tool{Name: name, Description: "d", Effect: effect, Access: plugins.Read}, call)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func build(t *testing.T, options gate.Options, tools ...plugins.Tool) *gate.Gate {
	t.Helper()
	g := gate.New(options)
	if err := g.Set("kit", tools, false); err != nil {
		t.Fatal(err)
	}
	return g
}

var run = plugins.Run{
	Turn:         "t_01j",
	Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1.0"},
	Actor:        chat.Person("T1", "U1"),
}

// call is what the model of run asks for.
func call(name, arguments string) plugins.Asked {
	return plugins.Asked{Run: run, Call: chat.ToolCall{ID: "c1", Tool: name, Arguments: arguments}}
}

// only offers no tools but these.
func only(asked plugins.Asked, names ...string) plugins.Asked {
	asked.Offered = append([]string{}, names...)
	return asked
}

func TestBadArgumentsComeBackReadable(t *testing.T) {
	ran := false
	g := build(t, gate.Options{}, tool(t, "weather", plugins.Pure, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
		ran = true
		return plugins.Result{Text: "sun"}, nil
	}))
	tests := []struct{ arguments, want string }{
		{`{}`, `field "city" is missing (string: the city's name)`},
		{``, `field "city" is missing`},
		{`{"city":5}`, `field "city" is the number 5, expected is string: the city's name`},
		{`{"city":"Bern","days":1e999}`, `hold a number that is too large`},
		{`{"city":"Bern","days":"two"}`, `field "days" is the string "two", expected is integer`},
		{`{"city":"Bern","days":1.5}`, `field "days" is the number 1.5, expected is integer`},
		{`{"city":"Bern","town":"x"}`, `field "town" is unknown (the fields are: city, days)`},
		{`{"city":"Bern"`, `not valid JSON`},
		{`{"city":"Bern"}{}`, `more than one JSON value`},
		{`["Bern"]`, `are an array. Send one JSON object`},
		{`{"city":"` + strings.Repeat("x", 300<<10) + `"}`, `bytes long`},
	}
	for _, test := range tests {
		got := g.Call(t.Context(), call("weather", test.arguments))
		if !got.Error || !strings.Contains(got.Text, test.want) {
			t.Errorf("%.40s: got %q, want %q in it", test.arguments, got.Text, test.want)
		}
	}
	if ran {
		t.Error("a call with bad arguments ran")
	}
	if got := g.Call(t.Context(), call("weather", `{"city":"Bern","days":2}`)); got.Error || got.Text != "sun" {
		t.Errorf("a good call gave %+v", got)
	}
}

// What is wrong beside the type is said too.
func TestBadValuesOfTheRightTypeComeBackReadable(t *testing.T) {
	take := tool(t, "take", plugins.Pure, says("x"))
	take.Parameters = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","maxLength":2},"b":{"type":"array","items":{"type":"string"}},"c":{"type":"object","required":["d"]}}}`)
	g := build(t, gate.Options{}, take)
	for arguments, want := range map[string]string{`{"a":"abc"}`: "maxLength", `{"b":[1]}`: `has type "integer"`, `{"c":{}}`: `missing properties: ["d"]`} {
		if got := g.Call(t.Context(), call("take", arguments)); !got.Error || !strings.Contains(got.Text, want) {
			t.Errorf("%s: %q, want %q in it", arguments, got.Text, want)
		}
	}
}

func TestFieldGivenTwiceMeansTheSameToCheckAndTool(t *testing.T) {
	var checked, ran string
	check := gate.Check{Name: "spy", Ask: func(_ context.Context, c gate.Call) (string, error) {
		checked = string(c.Arguments)
		return "", nil
	}}
	g := build(t, gate.Options{Checks: []gate.Check{check}}, tool(t, "weather", plugins.Pure, func(_ context.Context, _ plugins.Call, in arguments) (plugins.Result, error) {
		ran = in.City
		return plugins.Result{}, nil
	}))
	g.Call(t.Context(), call("weather", `{"city":"Bern","CITY":"Basel","city":"Chur"}`))
	g.Call(t.Context(), call("weather", `{"city":"Bern","city":"Chur"}`))
	if ran != "Chur" || checked != `{"city":"Chur"}` {
		t.Errorf("checked %s, ran with %q", checked, ran)
	}
}

// Ids are often numbers that a float64 does not hold.
func TestLongNumbersStayWhatTheyAre(t *testing.T) {
	var ran json.RawMessage
	take := plugins.Tool{Name: "take", Description: "d", Effect: plugins.Once, Access: plugins.Read,
		Parameters: json.RawMessage(`{"type":"object","properties":{"ids":{"type":"array","items":{"type":"integer"}},"x":{"type":"number"}}}`),
		Call: func(_ context.Context, _ plugins.Call, arguments json.RawMessage) (plugins.Result, error) {
			ran = arguments
			return plugins.Result{Text: "ok"}, nil
		}}
	g := build(t, gate.Options{}, take)
	g.Call(t.Context(), call("take", `{"ids":[9007199254740993,-7],"x":1.50}`))
	if got := string(ran); got != `{"ids":[9007199254740993,-7],"x":1.5}` {
		t.Errorf("the tool got %s", got)
	}
}

func TestS2_OnlyOfferedToolsAreCalled(t *testing.T) {
	g := build(t, gate.Options{}, tool(t, "one", plugins.Pure, says("1")), tool(t, "two", plugins.Once, says("2")))
	if got := g.Offered([]string{"two"}); len(got) != 1 || got[0].Name != "two" || got[0].Effect != plugins.Once {
		t.Errorf("offered: %+v", got)
	}
	if got := g.Offered(nil); len(got) != 2 || got[0].Name != "one" {
		t.Errorf("offered to all: %+v", got)
	}
	in := `{"city":"x"}`
	if got := g.Call(t.Context(), only(call("one", in), "two")); !got.Error || !strings.Contains(got.Text, `no tool named "one" in this turn. There are: two`) {
		t.Errorf("a tool that is not offered: %+v", got)
	}
	if got := g.Call(t.Context(), call("three", in)); !got.Error || !strings.Contains(got.Text, "There are: one, two") {
		t.Errorf("an unknown tool: %+v", got)
	}
	if got := g.Call(t.Context(), only(call("one", in))); !got.Error {
		t.Errorf("no tool is offered: %+v", got)
	}
}

// audited is the last record of what was decided.
func audited(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	var last map[string]any
	for line := range bytes.Lines(log.Bytes()) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		if record["msg"] == "tool call" {
			last = record
		}
	}
	if last == nil {
		t.Fatal("there is no audit record")
	}
	return last
}

func jsonLog(log *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestS3_ChecksDenyInOrderAndOnAnyFault(t *testing.T) {
	pass := gate.Check{Name: "pass", Ask: func(context.Context, gate.Call) (string, error) { return "", nil }}
	tests := []struct {
		name   string
		checks []gate.Check
		asked  func(*plugins.Asked)
		want   string
		rule   string // of a refusal
	}{
		{name: "all pass", checks: []gate.Check{pass, pass}, want: "sun"},
		{name: "one denies", checks: []gate.Check{pass, {Name: "scopes", Ask: func(context.Context, gate.Call) (string, error) { return "not yours", nil }}}, want: "not yours", rule: "scopes"},
		{name: "one fails", checks: []gate.Check{{Name: "account", Ask: func(context.Context, gate.Call) (string, error) { return "", errors.New("down") }}, pass}, want: "could not be checked", rule: "account"},
		{name: "one panics", checks: []gate.Check{{Name: "account", Ask: func(context.Context, gate.Call) (string, error) { panic("x") }}}, want: "could not be checked", rule: "account"},
		{name: "one ends its goroutine", checks: []gate.Check{{Name: "account", Ask: func(context.Context, gate.Call) (string, error) { goruntime.Goexit(); return "", nil }}}, want: "could not be checked", rule: "account"},
		{name: "one is empty", checks: []gate.Check{{Name: "hole"}}, want: "could not be checked", rule: "hole"},
		{name: "calls are spent", asked: func(a *plugins.Asked) { a.Before = 3 }, want: "has made its 3 tool calls", rule: "budget"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			ran := false
			g := build(t, gate.Options{Checks: test.checks, MaxCalls: 3, Logger: jsonLog(&log)},
				tool(t, "weather", plugins.Pure, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
					ran = true
					return plugins.Result{Text: "sun"}, nil
				}))
			asked := call("weather", `{"city":"Bern"}`)
			if test.asked != nil {
				test.asked(&asked)
			}
			got := g.Call(t.Context(), asked)
			if !strings.Contains(got.Text, test.want) {
				t.Errorf("got %q, want %q", got.Text, test.want)
			}
			if ran != (test.rule == "") || got.Error == ran {
				t.Errorf("ran: %v, error: %v", ran, got.Error)
			}
			decision, rule := "refused", test.rule
			if test.rule == "" {
				decision, rule = "allowed", "free"
			}
			if record := audited(t, &log); record["decision"] != decision || record["rule"] != rule {
				t.Errorf("audit record: %v", record)
			}
		})
	}
}

func TestAuditHoldsNoPayload(t *testing.T) {
	var log bytes.Buffer
	account := tool(t, "account", plugins.Pure, says("answer-payload"))
	account.Provider = "hub"
	elsewhere := tool(t, "elsewhere", plugins.Pure, says("answer-payload"))
	elsewhere.Sends = true
	elsewhere.Host = func(arguments json.RawMessage) (string, error) { return "", fmt.Errorf("no host in %s", arguments) }
	g := build(t, gate.Options{Logger: jsonLog(&log)}, account, elsewhere,
		tool(t, "weather", plugins.Pure, says("answer-payload")),
		tool(t, "broken", plugins.Pure, func(_ context.Context, _ plugins.Call, in arguments) (plugins.Result, error) {
			panic("panic-payload " + in.City)
		}))
	const in = `{"city":"question-payload"}`
	hash := func(tool, arguments string) string {
		return fmt.Sprintf("%x", sha256.Sum256([]byte(tool+"\n"+arguments)))[:32]
	}
	for _, test := range []struct{ tool, arguments, record string }{
		{"weather", in, "tool=weather principal= provider= decision=allowed rule=free arguments=" + hash("weather", in) + " failed=false"},
		{"weather", " " + in, "tool=weather principal= provider= decision=allowed rule=free arguments=" + hash("weather", in) + " failed=false"},
		{"account", in, "tool=account principal=T1:U1 provider=hub decision=allowed rule=reads arguments=" + hash("account", in) + " failed=false"},
		{"broken", in, "tool=broken principal= provider= decision=unknown rule=fault arguments=" + hash("broken", in) + " failed=true"},
		{"elsewhere", in, "tool=elsewhere principal= provider= decision=refused rule=host arguments=" + hash("elsewhere", in) + " failed=true"},
		{"name-payload", in, "tool=(unknown) principal= provider= decision=refused rule=not_offered arguments=" + hash("(unknown)", in) + " failed=true"},
		{"weather", `{"payload`, "tool=weather principal= provider= decision=refused rule=arguments arguments=" + hash("weather", `{"payload`) + " failed=true"},
	} {
		log.Reset()
		g.Call(t.Context(), call(test.tool, test.arguments))
		if strings.Contains(log.String(), "payload") {
			t.Errorf("the log holds payload: %s", log.String())
		}
		record := audited(t, &log)
		for key, want := range map[string]any{"turn": "t_01j", "conversation": "T1:C1:1.0", "actor": "T1:U1"} {
			if record[key] != want {
				t.Errorf("audit %s is %v, want %v", key, record[key], want)
			}
		}
		if _, err := time.ParseDuration(fmt.Sprint(record["took"])); err != nil {
			t.Errorf("how long it took: %v", err)
		}
		var words []string
		for _, key := range []string{"tool", "principal", "provider", "decision", "rule", "arguments", "failed"} {
			words = append(words, fmt.Sprintf("%s=%v", key, record[key]))
		}
		if got := strings.Join(words, " "); got != test.record {
			t.Errorf("got  %s\nwant %s", got, test.record)
		}
	}
}

func TestPanicCostsItsCallAlone(t *testing.T) {
	g := build(t, gate.Options{}, tool(t, "broken", plugins.Once, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
		panic("boom")
	}), tool(t, "fine", plugins.Pure, says("ok")))
	got := g.Call(t.Context(), call("broken", `{"city":"x"}`))
	if !got.Error || !strings.Contains(got.Text, "a fault in its code") || !strings.Contains(got.Text, "took effect is unknown") || strings.Contains(got.Text, "boom") {
		t.Errorf("got %+v", got)
	}
	if got := g.Call(t.Context(), call("fine", `{"city":"x"}`)); got.Text != "ok" {
		t.Errorf("the next call gave %+v", got)
	}
}

func TestHangingToolIsGivenUpAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hang := tool(t, "hang", plugins.Idempotent, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
			<-release // deaf to its context
			return plugins.Result{Text: "late"}, nil
		})
		g := build(t, gate.Options{MaxHung: 2}, hang)
		for range 2 {
			start := time.Now()
			got := g.Call(t.Context(), call("hang", `{"city":"x"}`))
			if took := time.Since(start); took != 30*time.Second {
				t.Errorf("given up after %v", took)
			}
			if !got.Error || !strings.Contains(got.Text, "did not answer within 30s") || !strings.Contains(got.Text, "took effect is unknown") {
				t.Errorf("got %+v", got)
			}
		}
		start := time.Now()
		if got := g.Call(t.Context(), call("hang", `{"city":"x"}`)); !strings.Contains(got.Text, "out of order") || time.Since(start) != 0 {
			t.Errorf("the third: %+v after %v", got, time.Since(start))
		}
		close(release)
		synctest.Wait()
		if got := g.Call(t.Context(), call("hang", `{"city":"x"}`)); got.Text != "late" {
			t.Errorf("once the others came back: %+v", got)
		}
	})
}

func TestCutRunEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := build(t, gate.Options{}, tool(t, "wait", plugins.Pure, func(ctx context.Context, _ plugins.Call, _ arguments) (plugins.Result, error) {
			<-ctx.Done()
			<-t.Context().Done()
			return plugins.Result{}, nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		got := g.Call(ctx, call("wait", `{"city":"x"}`))
		if !got.Error || !strings.Contains(got.Text, "the run is over") || time.Since(start) != time.Second {
			t.Errorf("got %+v after %v", got, time.Since(start))
		}
		if got := g.Call(ctx, call("wait", `{"city":"x"}`)); !strings.Contains(got.Text, "was not started") {
			t.Errorf("a call after the end: %+v", got)
		}
	})
}

func TestS4_ResultIsCutAndRedacted(t *testing.T) {
	slack, openai := "xoxb"+"-123456789012-abcdefABCDEF", "sk-proj-abcdefghijklmnop"
	tests := []struct{ name, text, want string }{
		{"slack token", "token=" + slack + ".", "token=xoxb…[masked]"},
		{"openai key", "(" + openai + ")", "(sk-p…[masked])"},
		{"a word that only looks so", "task-force and risk-free", "task-force and risk-free"},
		{"nothing", " ", "(The tool gave no text back.)"},
	}
	for _, test := range tests {
		g := build(t, gate.Options{}, tool(t, "say", plugins.Pure, says(test.text)))
		if got := g.Call(t.Context(), call("say", `{"city":"x"}`)); got.Text != test.want {
			t.Errorf("%s: got %q", test.name, got.Text)
		}
	}

	failing := tool(t, "fail", plugins.Pure, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
		return plugins.Result{}, errors.New("401 with " + slack)
	})
	if got := build(t, gate.Options{}, failing).Call(t.Context(), call("fail", `{"city":"x"}`)); strings.Contains(got.Text, slack) || !got.Error {
		t.Errorf("an error: %q", got.Text)
	}

	both := tool(t, "both", plugins.Pure, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
		return plugins.Result{Text: "sent", DM: "it is " + slack + strings.Repeat("x", 5000)}, nil
	})
	if got := build(t, gate.Options{MaxResult: 4096}, both).Call(t.Context(), call("both", `{"city":"x"}`)); strings.Contains(got.DM, slack) || !strings.HasPrefix(got.DM, "it is xoxb…[masked]") || len(got.DM) > 4096 {
		t.Errorf("a direct message: %q", got.DM)
	}
	if got := build(t, gate.Options{}, tool(t, "say", plugins.Pure, says("x"))).Call(t.Context(), call("say", `{"city":"x"}`)); got.DM != "" {
		t.Errorf("a direct message out of nothing: %q", got.DM)
	}

	const limit = 4096
	for shift := range 3 * len(slack) {
		// The secret lies across each border of the cut in turn.
		text := strings.Repeat("ä", limit/3-shift) + " " + slack + " " + strings.Repeat("€", limit)
		got := build(t, gate.Options{MaxResult: limit}, tool(t, "say", plugins.Pure, says(text))).Call(t.Context(), call("say", `{"city":"x"}`))
		if len(got.Text) > limit || !utf8.ValidString(got.Text) || strings.Contains(got.Text, slack[8:]) {
			t.Fatalf("shift %d: %d bytes, valid %v", shift, len(got.Text), utf8.ValidString(got.Text))
		}
	}
	huge := strings.Repeat("x", 100*limit)
	if got := build(t, gate.Options{MaxResult: limit}, tool(t, "say", plugins.Pure, says(huge))).Call(t.Context(), call("say", `{"city":"x"}`)); len(got.Text) > limit || !strings.Contains(got.Text, "bytes left out here") {
		t.Errorf("huge result: %d bytes", len(got.Text))
	}
}
