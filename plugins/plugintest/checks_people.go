package plugintest

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"go.uber.org/goleak"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// keepsPeopleApart: what one person's calls were about reaches nobody else,
// unless the plugin says that it has one store for all.
func keepsPeopleApart(i *inspection) {
	h := i.host()
	if h.Extension().SharedStore {
		return
	}
	alices := h.As(Alice, mark).Sees(chat.Thread, Alice, mark)
	i.drawn(h, many, mark, func(tool plugins.Tool, arguments json.RawMessage) {
		alices.own[0].Text = mark + typedIn(arguments)
		i.call(h, alices, tool, arguments)
		i.ends(h, alices)
		for _, other := range []chat.Actor{Bob, AwayAlice} {
			i.nothingOf(h, mark, h.As(other, "Do it."), tool, json.RawMessage(strings.ReplaceAll(string(arguments), mark, "")))
		}
	})
}

// nothingOf makes a call for somebody, and looks for what somebody else has said.
func (i *inspection) nothingOf(h *Host, said string, turn *Turn, tool plugins.Tool, arguments json.RawMessage) {
	if result, ok := i.call(h, turn, tool, arguments); ok && strings.Contains(result.Text+result.DM, said) {
		i.wrong("tool %s, called for %s: it gave back what somebody else had said", tool.Name, turn.actor.Key())
	}
	for _, s := range h.Extension().Sections {
		notes, _ := render(i.t.Context(), s, turn.Call())
		for _, note := range notes {
			if strings.Contains(note.Text, said) {
				i.wrong("section %s, rendered for %s: it shows what somebody else had said", s.Name, turn.actor.Key())
			}
		}
	}
}

// keepsItsBudget: a section fits, whatever was stored before.
func keepsItsBudget(i *inspection) {
	h := i.host()
	look := func(turn *Turn) {
		for _, s := range h.Extension().Sections {
			turn.calls++
			notes, err := render(i.t.Context(), s, turn.Call())
			if err != nil {
				i.wrong("%v", err)
				continue
			}
			size := 0
			for _, note := range notes {
				size += len(note.Text)
			}
			budget := s.Tokens
			if budget == 0 {
				budget = sectionTokens
			}
			if size > budget*bytesPerToken {
				i.wrong("section %s is %d bytes long, and its budget of %d tokens is some %d: leave some of it out, shorten it with plugins.CutMiddle, or name more in Section.Tokens, 4,000 at most", s.Name, size, budget, budget*bytesPerToken)
			}
		}
	}
	look(h.As(Alice, ""))
	n := 0
	i.drawn(h, many, mark, func(tool plugins.Tool, arguments json.RawMessage) {
		turn := h.As(Alice, typedIn(arguments))
		i.call(h, turn, tool, arguments)
		if n++; n%10 == 0 {
			look(turn)
		}
	})
	look(h.As(Alice, "And now?").Steers(Bob, "look here"))
}

func (i *inspection) wants(task plugins.Task, ended plugins.Ended) (wanted bool) {
	err := within(i.t.Context(), time.Second, func(context.Context) error {
		wanted = wants(task, ended)
		return nil
	})
	if err != nil {
		i.wrong("task %s: Wants: %v", task.Name, err)
	}
	return wanted && err == nil
}

// repeatsItsTasks: a task runs at least once, so that twice must be as good.
func repeatsItsTasks(i *inspection) {
	h := i.host()
	turns := []*Turn{h.As(Alice, ""), h.As(Alice, mark).Steers(Bob, mark)}
	i.drawn(h, some, mark, func(tool plugins.Tool, arguments json.RawMessage) {
		turn := h.As(Alice, typedIn(arguments))
		result, ok := i.call(h, turn, tool, arguments)
		if ok {
			e := turn.entry(chat.ToolRole, chat.Result, result.Text)
			e.Tool, e.Failed = tool.Name, result.Error
			turn.own = append(turn.own, e)
		}
		turns = append(turns, turn)
	})
	for _, turn := range turns {
		for _, outcome := range outcomes {
			for _, task := range h.Extension().Tasks {
				i.twice(h, task, turn.Ended(task.Name, outcome))
			}
		}
	}
}

func (i *inspection) twice(h *Host, task plugins.Task, ended plugins.Ended) {
	if !i.wants(task, ended) {
		return
	}
	if err := work(i.t.Context(), task, ended); err != nil {
		i.wrong("%v (a turn that is %s)", err, ended.Outcome)
		return
	}
	before := h.Store(ended.Actor).Values()
	ended.Try++
	if err := work(i.t.Context(), task, ended); err != nil {
		i.wrong("%v (run a second time)", err)
	}
	if !maps.Equal(before, h.Store(ended.Actor).Values()) {
		i.wrong("task %s, run a second time with the same key, stored something else", task.Name)
	}
}

// homeBears: whatever came over the wire may be pressed, by anybody.
func homeBears(i *inspection) {
	h := i.host()
	home := h.Extension().Home
	if home == nil {
		return
	}
	items := func(person chat.Actor) (items []chat.HomeItem) {
		err := within(i.t.Context(), h.options.patience, func(ctx context.Context) (err error) {
			items, err = home.Items(ctx, person)
			return err
		})
		if err != nil {
			i.wrong("Home.Items for %s: %v", person.Key(), err)
		}
		return items
	}
	buttons := []string{"", "delete", "forget", "undo", "all"}
	for _, person := range []chat.Actor{Alice, Bob, AwayAlice} {
		for _, item := range items(person) {
			for _, button := range item.Buttons {
				buttons = append(buttons, button.Name)
			}
		}
	}
	for _, button := range buttons {
		for _, item := range hostile {
			err := within(i.t.Context(), h.options.patience, func(ctx context.Context) error {
				_, err := home.Act(ctx, Carol, button, item)
				return err
			})
			if isFault(err) {
				i.wrong("Home.Act of %q with %.100q: %v", button, item, err)
			}
		}
	}
	items(Carol)
}

// worksAtOnce: many calls at a time, of two that are open in one process. It is
// the race detector that finds most here.
func worksAtOnce(i *inspection) {
	const goroutines = 8
	var group sync.WaitGroup
	var found sync.Mutex
	for _, h := range []*Host{i.host(), i.host()} {
		for n := range goroutines {
			// Each has its own, since what an inspection collects is nobody else's.
			own := &inspection{t: i.t, panics: i.panics}
			h := h
			group.Go(func() {
				actor := []chat.Actor{Alice, Bob, AwayAlice}[n%3]
				own.drawn(h, few, mark, func(tool plugins.Tool, arguments json.RawMessage) {
					turn := h.As(actor, typedIn(arguments))
					own.call(h, turn, tool, arguments)
					own.ends(h, turn)
				})
				found.Lock()
				defer found.Unlock()
				for _, problem := range own.found {
					i.wrong("%s", problem)
				}
			})
		}
	}
	group.Wait()
}

// leavesNothingRunning: when the bot ends, so does all that the plugin began.
func leavesNothingRunning(i *inspection) {
	here := goleak.IgnoreCurrent()
	h := i.host()
	turn := h.As(Alice, mark)
	i.drawn(h, few, mark, func(tool plugins.Tool, arguments json.RawMessage) { i.call(h, turn, tool, arguments) })
	i.ends(h, turn)
	i.close()
	if err := goleak.Find(here); err != nil {
		i.wrong("something still runs after everything has ended: %v", err)
	}
}
