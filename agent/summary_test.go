package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/runtime/chat"
)

// closed are the entries of closed turns from a number on, as a later turn of
// Alice sees them: a question and an answer each, of some size.
func closed(from, to, size int, change ...func(n int, e *chat.Entry)) []chat.Entry {
	var entries []chat.Entry
	for n := from; n <= to; n++ {
		asked := request(chat.TS(fmt.Sprintf("%d.000000", 1000+n)), fmt.Sprintf("question %d %s", n, strings.Repeat("x", size)))
		said := answer(fmt.Sprintf("answer %d", n))
		for _, e := range []chat.Entry{asked, said} {
			e.Turn = chat.TurnID(fmt.Sprintf("t_%d", n))
			e = e.Shown()
			e.Closing = int64(n)
			for _, f := range change {
				f(n, &e)
			}
			entries = append(entries, e)
		}
	}
	return entries
}

// asks answers requests for a summary with a text, and all others with "done".
func asks(summary string, summaries *[]agent.Request) *scripted.Model {
	return scripted.Does(func(_ context.Context, req agent.Request) (agent.Reply, error) {
		if agent.IsSummary(req) {
			*summaries = append(*summaries, req)
			return agent.Reply{Text: summary, Tokens: 7}, nil
		}
		return says("done"), nil
	})
}

func small(o *agent.Options) { o.ContextTokens = 4000 }

func summaries(entries []chat.Entry) (found []chat.Entry) {
	for _, e := range entries {
		if e.Origin == chat.Summary {
			found = append(found, e)
		}
	}
	return found
}

func TestWhatHasNoRoomIsSummarised(t *testing.T) {
	var asked []agent.Request
	model, log := asks("Alice asked much.", &asked), &scripted.Log{}
	turn := turn(request("9000.0", "hello"))
	turn.Before = closed(1, 30, 200)
	if err := loop(model, small).Run(t.Context(), turn, log); err != nil {
		t.Fatal(err)
	}
	got := summaries(log.Entries())
	if len(asked) != 1 || len(got) != 1 {
		t.Fatalf("%d summaries were asked for, %d are in the log", len(asked), len(got))
	}
	s := got[0]
	if s.Covers == nil || s.Covers.From != 1 || s.Covers.To < 20 || s.Covers.To > 29 || s.Covers.Reader != alice {
		t.Errorf("it covers %+v", s.Covers)
	}
	if s.Authority() != chat.Context || s.Private || s.Posted || s.Tokens != 7 || s.Text != "Alice asked much." {
		t.Errorf("it is %+v", s)
	}
	if first := log.Entries()[0]; first.Origin != chat.Summary {
		t.Errorf("the first in the log is %s", first.Origin)
	}
	elements, err := agent.DecodeBlock(model.Requests()[1].Messages[0].Content)
	if err != nil {
		t.Fatal(err)
	}
	if e := elements[0]; e.Origin != "summary" || e.Author != "you" || e.Text != s.Text {
		t.Errorf("the request begins with %+v", e)
	}
	want := fmt.Sprintf("question %d ", s.Covers.To+1)
	if !strings.HasPrefix(elements[1].Text, want) || !strings.HasPrefix(elements[len(elements)-2].Text, "question 30 ") {
		t.Errorf("behind it stand %.20q to %.20q", elements[1].Text, elements[len(elements)-2].Text)
	}
	if n := agent.Estimate(asked[0]); n > 4000 || len(asked[0].Tools) > 0 {
		t.Errorf("the request for a summary takes %d tokens, with %d tools", n, len(asked[0].Tools))
	}
}

// A summary is made of the one before it and of the turns between.
func TestASummaryGoesOnFromTheLast(t *testing.T) {
	var asked []agent.Request
	model, log := asks("More.", &asked), &scripted.Log{}
	turn := turn(request("9000.0", "hello"))
	turn.Before = append([]chat.Entry{{
		Turn: "t_5", Role: chat.UserRole, Origin: chat.Summary, Text: "Before that.", Covers: &chat.Range{From: 1, To: 4, Reader: alice},
	}}, closed(5, 24, 200)...)
	if err := loop(model, small).Run(t.Context(), turn, log); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 {
		t.Fatalf("%d summaries were asked for", len(asked))
	}
	elements, err := agent.DecodeBlock(asked[0].Messages[0].Content)
	if err != nil {
		t.Fatal(err)
	}
	if elements[0].Text != "Before that." || !strings.HasPrefix(elements[1].Text, "question 5 ") {
		t.Errorf("it is made of %.30q, %.30q ...", elements[0].Text, elements[1].Text)
	}
	if s := summaries(log.Entries())[0]; s.Covers.From != 1 || s.Covers.To < 15 {
		t.Errorf("it covers %+v", s.Covers)
	}
	if shown := strings.Join(outline(t, model.Requests()[1]), "\n"); strings.Contains(shown, "Before that.") {
		t.Error("both summaries are shown")
	}
}

// After a summary there is room for many turns before the next one.
func TestNotEveryTurnNeedsASummary(t *testing.T) {
	var asked []agent.Request
	before := []chat.Entry(nil)
	for n := 1; n <= 60; n++ {
		turn := turn(request("9000.0", "hello"))
		before = append(before, closed(n, n, 200)...)
		turn.Before = before
		log := &scripted.Log{}
		if err := loop(asks("So far.", &asked), small).Run(t.Context(), turn, log); err != nil {
			t.Fatal(err)
		}
		for _, s := range summaries(log.Entries()) {
			var rest []chat.Entry
			for _, e := range before {
				if !s.Covers.Includes(e) {
					rest = append(rest, e)
				}
			}
			before = append([]chat.Entry{s}, rest...)
		}
	}
	if len(asked) < 5 || len(asked) > 20 {
		t.Errorf("60 turns needed %d summaries", len(asked))
	}
}

func TestS5_ASummaryOfPrivateEntriesIsPrivate(t *testing.T) {
	secret := func(n int, e *chat.Entry) { e.Private = n == 3 && e.Role == chat.AssistantRole }
	t.Run("alone", func(t *testing.T) {
		var asked []agent.Request
		log := &scripted.Log{}
		turn := turn(request("9000.0", "hello"))
		turn.Before = closed(1, 30, 200, secret)
		if err := loop(asks("A secret.", &asked), small).Run(t.Context(), turn, log); err != nil {
			t.Fatal(err)
		}
		if got := summaries(log.Entries()); len(got) != 1 || !got[0].Private {
			t.Errorf("it is %+v", got)
		}
	})
	t.Run("in a conflict none is made", func(t *testing.T) {
		var asked []agent.Request
		model, log := asks("A secret.", &asked), &scripted.Log{}
		turn := turn(request("9000.0", "hello"), steer(bob, "9001.0", "me too"))
		turn.Before = closed(1, 30, 200, secret)
		if err := loop(model, small).Run(t.Context(), turn, log); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 0 || len(summaries(log.Entries())) != 0 {
			t.Errorf("%d summaries were asked for", len(asked))
		}
	})
	t.Run("one that is there leaves the prompt when the conflict comes", func(t *testing.T) {
		log := &scripted.Log{}
		var asked []agent.Request
		model := scripted.Does(func(_ context.Context, req agent.Request) (agent.Reply, error) {
			switch {
			case agent.IsSummary(req):
				asked = append(asked, req)
				return says("A secret."), nil
			case len(log.Answers()) == 0:
				log.Steer(steer(bob, "9001.0", "me too"))
			}
			return says("done"), nil
		})
		turn := turn(request("9000.0", "hello"))
		turn.Before = closed(1, 30, 200, secret)
		if err := loop(model, small).Run(t.Context(), turn, log); err != nil {
			t.Fatal(err)
		}
		requests := model.Requests()
		if len(requests) != 3 || len(asked) != 1 {
			t.Fatalf("%d requests", len(requests))
		}
		alone, conflict := strings.Join(outline(t, requests[1]), "\n"), strings.Join(outline(t, requests[2]), "\n")
		if !strings.Contains(alone, "A secret.") {
			t.Errorf("without a conflict it is not shown: %s", alone)
		}
		if strings.Contains(conflict, "A secret.") || !strings.Contains(conflict, "A summary of earlier turns is not shown.") {
			t.Errorf("in the conflict stands: %s", conflict)
		}
	})
}

// A summary that cannot be had costs itself, and not the turn.
func TestWithoutASummaryTheTurnGoesOn(t *testing.T) {
	for name, fails := range map[string]func() (agent.Reply, error){
		"refused": func() (agent.Reply, error) { return agent.Reply{}, &agent.Failure{Kind: agent.ModelRefused} },
		"error":   func() (agent.Reply, error) { return agent.Reply{}, errors.New("no") },
		"empty":   func() (agent.Reply, error) { return agent.Reply{Text: " "}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			model := scripted.Does(func(_ context.Context, req agent.Request) (agent.Reply, error) {
				if agent.IsSummary(req) {
					tries++
					return fails()
				}
				if tries == 1 && len(req.Messages) < 3 {
					return wants(ask("a", "look")), nil
				}
				return says("done"), nil
			})
			log := &scripted.Log{}
			turn := turn(request("9000.0", "hello"))
			turn.Before = closed(1, 30, 200)
			if err := loop(model, small).Run(t.Context(), turn, log); err != nil {
				t.Fatal(err)
			}
			if tries != 1 {
				t.Errorf("it was tried %d times", tries)
			}
			if diff := cmp.Diff([]string{"done"}, log.Answers()); diff != "" {
				t.Error(diff)
			}
			if shown := outline(t, model.Requests()[1])[0]; !strings.Contains(shown, "earlier turns are not shown.") {
				t.Errorf("what is left out is not told: %s", shown)
			}
		})
	}
}

// A stop that comes while the model summarises is a stop.
func TestAStopCutsTheSummary(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	model := scripted.Does(func(ctx context.Context, _ agent.Request) (agent.Reply, error) {
		cancel(agent.ErrStopped)
		return agent.Reply{}, ctx.Err()
	})
	log := &scripted.Log{}
	turn := turn(request("9000.0", "hello"))
	turn.Before = closed(1, 30, 200)
	if err := loop(model, small).Run(ctx, turn, log); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("got %v", err)
	}
	if len(model.Requests()) != 1 || len(log.Entries()) != 0 {
		t.Errorf("%d requests, log %+v", len(model.Requests()), log.Entries())
	}
}
