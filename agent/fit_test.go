package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

const window = 4000 // tokens

// A turn of fifty large results works in a small window: each request fits, the
// request and steers stand in it as they were typed, and the last result is the
// longest.
func TestFiftyLargeResultsInASmallWindow(t *testing.T) {
	log := &scripted.Log{}
	step := 0
	model := scripted.Does(func(_ context.Context, req agent.Request) (agent.Reply, error) {
		if n := agent.Estimate(req); n > window {
			t.Errorf("request %d takes %d tokens", step+1, n)
		}
		checkPairs(t, req)
		text := strings.Join(outline(t, req), "\n")
		for _, said := range []string{"user: read them all", "user: mind the third"} {
			if strings.Count(text, said) != 1 {
				t.Errorf("request %d holds %q %d times", step+1, said, strings.Count(text, said))
			}
		}
		if step++; step > 50 {
			return says("done"), nil
		}
		return agent.Reply{Text: "on", Calls: []chat.ToolCall{
			{ID: fmt.Sprint("a", step), Tool: "look", Arguments: fmt.Sprintf(`{"page":%q}`, strings.Repeat("p", 700))},
			{ID: fmt.Sprint("b", step), Tool: "look", Arguments: "{}"},
		}, Tokens: 1}, nil
	})
	big := tools
	big.call = func(_ context.Context, a plugins.Asked) plugins.Result {
		if a.Call.Arguments == "{}" {
			return plugins.Result{Text: "short " + a.Call.ID}
		}
		return plugins.Result{Text: "begin " + strings.Repeat("<z>", 20_000) + " end"}
	}
	turn := turn(request("9000.0", "read them all"), steer(alice, "9001.0", "mind the third"))
	turn.Before = closed(1, 3, 100)
	if err := loop(model, small, func(o *agent.Options) { o.Tools, o.MaxSteps = big, 60 }).Run(t.Context(), turn, log); err != nil {
		t.Fatal(err)
	}
	last := model.Requests()[50]
	n := len(last.Messages)
	if large := last.Messages[n-2].Content; !strings.Contains(large, "begin ") || !strings.Contains(large, "bytes left out here") || !strings.Contains(large, " end") {
		t.Errorf("the last large result stands as %.60q", large)
	}
	if small := last.Messages[n-1].Content; !strings.Contains(small, "short b50") {
		t.Errorf("the last short result stands as %.60q", small)
	}
	if text := strings.Join(outline(t, last), "\n"); !strings.Contains(text, "earlier steps of this turn, with their calls and results, are not shown.") {
		t.Error("what is left out is not told")
	}
	for _, e := range log.Entries() {
		if e.Role == chat.ToolRole && strings.Contains(e.Text, "left out") {
			t.Fatal("the log itself was shortened")
		}
	}
}

// checkPairs: each call has its result right behind it, and no result is alone.
func checkPairs(t *testing.T, req agent.Request) {
	t.Helper()
	var open []string
	for i, m := range req.Messages {
		if m.Role == chat.ToolRole {
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("message %d answers %s, open are %v", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d stands before the results of %v", i, open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
}

// A thread of a thousand messages, and another of a thousand turns.
func TestAThousandMessagesInASmallWindow(t *testing.T) {
	var said []chat.Entry
	for n := range 1000 {
		said = append(said, thread(bob, chat.TS(fmt.Sprintf("%d.000000", 1000+n)), fmt.Sprintf("remark %d %s", n, strings.Repeat("y", n%700))))
	}
	for name, before := range map[string][]chat.Entry{"said": said, "answered": closed(1, 1000, 300)} {
		t.Run(name, func(t *testing.T) {
			var asked []agent.Request
			model := asks("Much was said.", &asked)
			turn := turn(request("9000.0", "hello"))
			turn.Before = before
			if err := loop(model, small).Run(t.Context(), turn, &scripted.Log{}); err != nil {
				t.Fatal(err)
			}
			for i, req := range model.Requests() {
				if n := agent.Estimate(req); n > window {
					t.Errorf("request %d takes %d tokens", i+1, n)
				}
			}
			requests := model.Requests()
			shown := outline(t, requests[len(requests)-1])
			if !strings.Contains(shown[0], "remark 999") && !strings.Contains(shown[0], "answer 1000") || shown[1] != "user: hello" {
				t.Errorf("the last request holds %v", shown)
			}
			if name == "answered" && !strings.Contains(shown[0], "Much was said.") {
				t.Errorf("no summary stands in %.300s", shown[0])
			}
		})
	}
}

// An earlier turn that did much is shown by what was said in it.
func TestAnEarlierTurnTooLargeIsShownBriefly(t *testing.T) {
	var before []chat.Entry
	add := func(e chat.Entry) {
		e.Turn = "t_1"
		e = e.Shown()
		e.Closing = 1
		before = append(before, e)
	}
	add(request("100.0", "read it all"))
	for i := range 20 {
		id := fmt.Sprint("c", i)
		add(calls("", ask(id, "look")))
		add(result(id, "look", strings.Repeat("z", 9000)))
	}
	add(answer("It says no."))
	turn := turn(request("9000.0", "why?"))
	turn.Before = before
	got := outline(t, agent.BuildRequest(turn, nil, window))
	want := "information: [note : Of 1 earlier turn the calls are not shown.] [history T1:U1: read it all] [history you: It says no.]"
	if diff := cmp.Diff(want, strings.Replace(got[0], "[note: ", "[note : ", 1)); diff != "" {
		t.Error(diff)
	}
}

func tooLong() (agent.Reply, error) { return agent.Reply{}, &agent.Failure{Kind: agent.TooLong} }

func TestARequestThatIsTooLongIsMadeSmallerOnce(t *testing.T) {
	refuses := func(limit int) *scripted.Model {
		return scripted.Does(func(_ context.Context, req agent.Request) (agent.Reply, error) {
			switch {
			case agent.Estimate(req) > limit:
				return tooLong()
			case agent.IsSummary(req):
				return says("Much was said."), nil
			}
			return says("done"), nil
		})
	}
	turn := turn(request("9000.0", "hello"))
	turn.Before = closed(1, 30, 400)
	t.Run("and then it fits", func(t *testing.T) {
		model, log := refuses(4500), &scripted.Log{}
		if err := loop(model, func(o *agent.Options) { o.ContextTokens = 32_000 }).Run(t.Context(), turn, log); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"done"}, log.Answers()); diff != "" {
			t.Error(diff)
		}
		requests := model.Requests()
		if last := requests[len(requests)-1]; !strings.Contains(outline(t, last)[0], "answer 30") || !strings.Contains(outline(t, last)[1], "hello") {
			t.Errorf("the last request holds %v", outline(t, last))
		}
	})
	t.Run("and then it does not", func(t *testing.T) {
		model := refuses(10)
		failed(t, loop(model, func(o *agent.Options) { o.ContextTokens = 32_000 }).Run(t.Context(), turn, &scripted.Log{}), agent.TooLong)
		asked := 0
		for _, req := range model.Requests() {
			if !agent.IsSummary(req) {
				asked++
			}
		}
		if asked != 2 {
			t.Errorf("the model was asked %d times", asked)
		}
	})
}

// The last results stay as they are while there is anything else to cut.
func TestTheLastResultsStayWhole(t *testing.T) {
	own := []chat.Entry{request("110.0", "go")}
	for i, size := range []int{900, 900, 900, 5000} {
		id := fmt.Sprint("c", i)
		own = append(own, calls("", ask(id, "look")), result(id, "look", strings.Repeat("z", size)))
	}
	all := agent.Estimate(agent.BuildRequest(turn(own...), nil, 0))
	req := agent.BuildRequest(turn(own...), nil, all-500)
	if n := agent.Estimate(req); n > all-500 {
		t.Errorf("the request takes %d tokens", n)
	}
	if last := req.Messages[len(req.Messages)-1].Content; strings.Count(last, "z") != 5000 {
		t.Errorf("the last result has %d bytes", len(last))
	}
}
