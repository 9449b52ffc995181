package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/plugins"
	"reeve/plugins/gate"
)

// sender is a tool that sends, and says that it did.
func sender(t *testing.T, host func(json.RawMessage) (string, error)) (made plugins.Tool, ran *bool) {
	t.Helper()
	ran = new(bool)
	made = tool(t, "send", plugins.Once, func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
		*ran = true
		return plugins.Result{Text: "sent"}, nil
	})
	made.Sends, made.Host = true, host
	return made, ran
}

func TestS3_HostThatCannotBeToldIsRefused(t *testing.T) {
	for name, host := range map[string]func(json.RawMessage) (string, error){
		"an error":    func(json.RawMessage) (string, error) { return "good.example", errors.New("that is no URL") },
		"a panic":     func(json.RawMessage) (string, error) { panic("x") },
		"nothing":     func(json.RawMessage) (string, error) { return "", nil },
		"a URL":       func(json.RawMessage) (string, error) { return "https://good.example", nil },
		"user-info":   func(json.RawMessage) (string, error) { return "good.example@evil.example", nil },
		"blanks":      func(json.RawMessage) (string, error) { return " good.example", nil },
		"two":         func(json.RawMessage) (string, error) { return "a.example,b.example", nil },
		"a wild card": func(json.RawMessage) (string, error) { return "*.example", nil },
	} {
		var log bytes.Buffer
		send, ran := sender(t, host)
		got := build(t, gate.Options{Logger: jsonLog(&log)}, send).Call(t.Context(), call("send", `{"city":"x"}`))
		if !got.Error || !strings.Contains(got.Text, "cannot be told where it would send to") || *ran || audited(t, &log)["rule"] != "host" {
			t.Errorf("%s: %+v, ran %v, %v", name, got, *ran, audited(t, &log))
		}
	}
}

// Each question that is asked before a call has 10 s, deaf or not.
func TestS3_QuestionThatIsNotAnsweredIsANo(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, release <-chan struct{}){
		"deaf":       func(_ context.Context, release <-chan struct{}) { <-release },
		"a late yes": func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				var log bytes.Buffer
				send, ran := sender(t, nil)
				g := build(t, gate.Options{Logger: jsonLog(&log), Checks: []gate.Check{{Name: "account", Ask: func(ctx context.Context, _ gate.Call) (string, error) {
					ask(ctx, release)
					return "", nil
				}}}}, send)
				start := time.Now()
				got := g.Call(t.Context(), call("send", `{"city":"x"}`))
				if !got.Error || !strings.Contains(got.Text, "could not be checked") || *ran || time.Since(start) != 10*time.Second {
					t.Errorf("%+v after %v, ran %v", got, time.Since(start), *ran)
				}
				if audited(t, &log)["rule"] != "account" {
					t.Errorf("%v", audited(t, &log))
				}
			})
		})
	}

	t.Run("a host", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			send, ran := sender(t, func(json.RawMessage) (string, error) {
				<-release
				return "good.example", nil
			})
			g := build(t, gate.Options{MaxHung: 2}, send)
			for n, want := range []time.Duration{10 * time.Second, 10 * time.Second, 0} {
				start := time.Now()
				got := g.Call(t.Context(), call("send", `{"city":"x"}`))
				if !got.Error || *ran || time.Since(start) != want {
					t.Errorf("call %d: %+v after %v", n, got, time.Since(start))
				}
			}
			close(release)
			synctest.Wait()
			if got := g.Call(t.Context(), call("send", `{"city":"x"}`)); got.Text != "sent" {
				t.Errorf("once they came back: %+v", got)
			}
		})
	})
}

func TestS3_RunThatEndsWhileItIsAskedMakesNoCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	send, ran := sender(t, nil)
	g := build(t, gate.Options{Logger: jsonLog(&log), Checks: []gate.Check{{Name: "account", Ask: func(context.Context, gate.Call) (string, error) {
		cancel()
		return "", nil
	}}}}, send)
	for range 20 { // whether the end or the answer is seen first is chance
		if got := g.Call(ctx, call("send", `{"city":"x"}`)); !got.Error || *ran {
			t.Fatalf("%+v, ran %v", got, *ran)
		}
	}
	if audited(t, &log)["rule"] != "run_over" {
		t.Errorf("%v", audited(t, &log))
	}
}

func TestS3_ToolThatIsNotUnderstoodIsNotTaken(t *testing.T) {
	for name, change := range map[string]func(*plugins.Tool){
		"effect":      func(t *plugins.Tool) { t.Effect = "sometimes" },
		"no effect":   func(t *plugins.Tool) { t.Effect = "" },
		"access":      func(t *plugins.Tool) { t.Access = "execute" },
		"no access":   func(t *plugins.Tool) { t.Access = "" },
		"nil schema":  func(t *plugins.Tool) { t.Parameters = nil },
		"bad schema":  func(t *plugins.Tool) { t.Parameters = json.RawMessage(`{"type":"object","properties":5}`) },
		"no object":   func(t *plugins.Tool) { t.Parameters = json.RawMessage(`{"type":"array"}`) },
		"no function": func(t *plugins.Tool) { t.Call = nil },
		"pure write":  func(t *plugins.Tool) { t.Access = plugins.Write },
		"silent host": func(t *plugins.Tool) { t.Host = func(json.RawMessage) (string, error) { return "x", nil } },
	} {
		bad, ran := tool(t, "bad", plugins.Pure, says("x")), false
		bad.Call = func(context.Context, plugins.Call, json.RawMessage) (plugins.Result, error) {
			ran = true
			return plugins.Result{}, nil
		}
		change(&bad)
		g := gate.New(gate.Options{})
		if err := g.Set("kit", []plugins.Tool{bad}, false); err == nil {
			t.Errorf("%s: it was taken", name)
		}
		if got := g.Call(t.Context(), call("bad", `{"city":"x"}`)); !got.Error || ran {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The mark is set for whatever comes of a call that may have spent somebody's
// rights, its errors too.
func TestS5_ResultsOfCredentialedCallsArePrivate(t *testing.T) {
	deny := gate.Check{Name: "account", Ask: func(context.Context, gate.Call) (string, error) { return "Alice has no account with hub", nil }}
	for name, test := range map[string]struct {
		act     act
		checks  []gate.Check
		private bool // without a provider
	}{
		"a result": {act: says("x")},
		"a result that says so": {private: true, act: func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
			return plugins.Result{Text: "x", Private: true}, nil
		}},
		"an error": {act: func(context.Context, plugins.Call, arguments) (plugins.Result, error) {
			return plugins.Result{}, errors.New("403 for alice's repository")
		}},
		"a panic":  {act: func(context.Context, plugins.Call, arguments) (plugins.Result, error) { panic("x") }},
		"a denial": {act: says("x"), checks: []gate.Check{deny}},
	} {
		for _, provider := range []string{"", "hub"} {
			made := tool(t, "look", plugins.Pure, test.act)
			made.Provider = provider
			got := build(t, gate.Options{Checks: test.checks}, made).Call(t.Context(), call("look", `{"city":"x"}`))
			if got.Private != (provider != "" || test.private) {
				t.Errorf("%s of provider %q: private %v", name, provider, got.Private)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		made := tool(t, "look", plugins.Pure, func(ctx context.Context, _ plugins.Call, _ arguments) (plugins.Result, error) {
			<-t.Context().Done()
			return plugins.Result{}, nil
		})
		made.Provider = "hub"
		if got := build(t, gate.Options{}, made).Call(t.Context(), call("look", `{"city":"x"}`)); !got.Private || !got.Error {
			t.Errorf("a call that was given up: %+v", got)
		}
	})
	// What was not begun has spent nothing.
	made := tool(t, "look", plugins.Pure, says("x"))
	made.Provider = "hub"
	if got := build(t, gate.Options{}, made).Call(t.Context(), call("look", `{}`)); got.Private || !got.Error {
		t.Errorf("bad arguments: %+v", got)
	}
}
