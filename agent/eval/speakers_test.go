package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// talk is a thread of several people, and a question about who said what in it.
type talk struct {
	ID     string        `json:"id"`
	Before []said        `json:"before"`
	Steers []said        `json:"steers"`
	Ask    string        `json:"ask"`
	Want   []chat.UserID `json:"want"`
	Says   string        `json:"says"` // a word, where there is nobody to name
	Not    []chat.UserID `json:"not"`
	Reason string        `json:"reason"`
}

func (c talk) turn() agent.Turn {
	t := turn()
	for n, s := range c.Before {
		t.Before = append(t.Before, s.entry(n, chat.Context))
	}
	n := len(c.Before)
	t.Own = append(t.Own, said{alice.User, "Alice", chat.Request, c.Ask}.entry(n, chat.Instruction))
	for _, s := range c.Steers {
		n++
		t.Own = append(t.Own, s.entry(n, chat.Context))
	}
	return t
}

// speakers measures whether a model's answer names those who said it.
func speakers(ctx context.Context, model agent.Model, cases []talk) score {
	return measure("who said what", 4, cases, func(c talk) string { return c.ID }, func(c talk) string {
		answer, err := run(ctx, model, c.turn(), &desk{})
		if err != nil {
			return err.Error()
		}
		for _, user := range c.Want {
			if !strings.Contains(answer, string(user)) {
				return fmt.Sprintf("it does not name %s (%s): %.200q", user, c.Reason, answer)
			}
		}
		if !strings.Contains(strings.ToLower(answer), c.Says) {
			return fmt.Sprintf("it does not say %s (%s): %.200q", c.Says, c.Reason, answer)
		}
		for _, user := range c.Not {
			if strings.Contains(answer, string(user)) {
				return fmt.Sprintf("it names %s (%s): %.200q", user, c.Reason, answer)
			}
		}
		return ""
	})
}

// run takes a turn through the loop, with its real prompt, to its answer.
func run(ctx context.Context, model agent.Model, turn agent.Turn, tools agent.Tools) (string, error) {
	log := &scripted.Log{}
	loop := agent.NewLoop(agent.Options{Model: model, Tools: tools, MaxSteps: 6})
	if err := loop.Run(ctx, turn, log); err != nil {
		return "", err
	}
	answers := log.Answers()
	if len(answers) == 0 {
		return "", errors.New("there is no answer")
	}
	return strings.Join(answers, "\n"), nil
}

// desk is what stands behind a case's tools: it does nothing, says that it did,
// and keeps what it was asked.
type desk struct {
	scripted.Unasked
	offered []plugins.Spec
	calls   chan chat.ToolCall
}

func (d *desk) Offered([]string) []plugins.Spec { return d.offered }

func (d *desk) Call(_ context.Context, asked plugins.Asked) plugins.Result {
	d.calls <- asked.Call
	return plugins.Result{Text: "Done."}
}
