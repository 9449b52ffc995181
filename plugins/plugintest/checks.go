package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// maxResult is where the gate cuts a result, in bytes.
	maxResult = 64 << 10
	// bytesPerToken is by what a budget is counted.
	bytesPerToken = 3
	// sectionTokens is a section's budget where it names none.
	sectionTokens = 500
	// mark is a text by which a check knows its own words again.
	mark = "canary-5f1c"
)

var outcomes = []plugins.Outcome{plugins.Done, plugins.Failed, plugins.Stopped, plugins.Abandoned}

// opens: the plugin can be opened, adds what can be added, and does not wait
// for the network.
func opens(i *inspection) {
	h := newHost(i.t, i.make(), i.change)
	err := within(i.t.Context(), 5*time.Second, h.open)
	if err != nil {
		i.wrong("%v", err)
		return
	}
	if n := h.web.asked(); n > 0 {
		i.wrong("Open made %d requests; what takes time belongs into Extension.Run", n)
	}
	h.web.close()
}

const (
	many = 1 << 30 // as many calls of each tool as the options say
	some = 20
	few  = 8
)

// drawn makes calls of every tool with arguments that fit its schema, of each
// tool at most so many.
func (i *inspection) drawn(h *Host, most int, mark string, do func(plugins.Tool, json.RawMessage)) {
	for n, tool := range h.Extension().Tools {
		g, err := newGenerator(tool, uint64(n), mark)
		if err != nil {
			i.wrong("%v", err)
			continue
		}
		for _, e := range h.options.examples {
			if e.tool == tool.Name {
				do(tool, json.RawMessage(e.arguments))
			}
		}
		for range min(most, h.options.calls) {
			arguments, err := g.draw()
			if err != nil {
				i.wrong("%v", err)
				break
			}
			do(tool, arguments)
		}
	}
}

// call makes one call, and answers false where there is no result to look at.
func (i *inspection) call(h *Host, turn *Turn, tool plugins.Tool, arguments json.RawMessage) (plugins.Result, bool) {
	ctx, cancel := context.WithTimeout(i.t.Context(), h.options.patience)
	defer cancel()
	turn.calls++
	given, end := turn.callOf(tool)
	result, err := do(ctx, tool, given, end, arguments)
	if err != nil {
		i.wrong("%v", err)
	}
	return result, err == nil
}

// takesAnyArguments: whatever fits the schema may be asked for.
func takesAnyArguments(i *inspection) {
	h := i.host()
	turn := h.As(Alice, "Do it: "+mark).Sees(chat.Thread, Bob, mark).Steers(Carol, mark)
	i.drawn(h, many, mark, func(tool plugins.Tool, arguments json.RawMessage) {
		result, ok := i.call(h, turn, tool, arguments)
		switch {
		case !ok:
		case len(result.Text) > maxResult:
			i.wrong("tool %s, called with %.200s: its result has %d bytes, and what is over %d would be cut from its middle", tool.Name, arguments, len(result.Text), maxResult)
		case result.Error && strings.TrimSpace(result.Text) == "":
			i.wrong("tool %s, called with %.200s: it failed and does not say why", tool.Name, arguments)
		}
	})
}

// doesItsExamples: a suite in which every call fails would show nothing.
func doesItsExamples(i *inspection) {
	h := i.host()
	for _, e := range h.options.examples {
		tool, ok := find(h.Extension().Tools, e.tool)
		if !ok {
			i.wrong("there is no tool %q", e.tool)
			continue
		}
		arguments, err := fit(tool, []byte(e.arguments))
		if err != nil {
			i.wrong("%v", err)
			continue
		}
		if result, ok := i.call(h, h.As(Alice, e.arguments), tool, arguments); ok && result.Error {
			i.wrong("tool %s, called with %s: %s", e.tool, e.arguments, firstLine(result.Text))
		}
	}
}

// keepsTextOutOfItsLog: what people write stands in no log above debug.
func keepsTextOutOfItsLog(i *inspection) {
	h := i.host()
	turn := h.As(Alice, mark).Sees(chat.Thread, Bob, mark)
	i.drawn(h, many, mark, func(tool plugins.Tool, arguments json.RawMessage) { i.call(h, turn, tool, arguments) })
	i.ends(h, turn)
	for line := range strings.Lines(h.Log()) {
		if strings.Contains(line, mark) && !strings.Contains(line, "level=DEBUG") {
			i.wrong("what somebody wrote stands in the log: %s", firstLine(line))
		}
	}
}

// ends renders the sections and runs the tasks, for what else they may do.
func (i *inspection) ends(h *Host, turn *Turn) {
	for _, s := range h.Extension().Sections {
		if _, err := render(i.t.Context(), s, turn.Call()); isFault(err) {
			i.wrong("%v", err)
		}
	}
	for _, task := range h.Extension().Tasks {
		if ended := turn.Ended(task.Name, plugins.Done); i.wants(task, ended) {
			if err := work(i.t.Context(), task, ended); isFault(err) {
				i.wrong("%v", err)
			}
		}
	}
}

// comesBack: a call is over when its context is.
func comesBack(i *inspection) {
	h := i.host()
	ended, end := context.WithCancel(i.t.Context())
	end()
	turn := h.As(Alice, "Do it.")
	i.drawn(h, few, "", func(tool plugins.Tool, arguments json.RawMessage) {
		soon, cancel := context.WithTimeout(i.t.Context(), time.Millisecond)
		defer cancel()
		for _, ctx := range []context.Context{ended, soon} {
			turn.calls++
			given, end := turn.callOf(tool)
			if _, err := do(ctx, tool, given, end, arguments); err != nil {
				i.wrong("%v", err)
			}
		}
	})
	for _, s := range h.Extension().Sections {
		if _, err := render(ended, s, turn.Call()); isFault(err) {
			i.wrong("%v", err)
		}
	}
	for _, task := range h.Extension().Tasks {
		if err := work(ended, task, turn.Ended(task.Name, plugins.Done)); isFault(err) {
			i.wrong("%v", err)
		}
	}
}

// changesThingsOnce: an idempotent call, made again with its key, leaves what
// the first one left, also where midnight was in between.
func changesThingsOnce(i *inspection) {
	h := i.host()
	i.drawn(h, many, mark, func(tool plugins.Tool, arguments json.RawMessage) {
		if tool.Effect != plugins.Idempotent {
			return
		}
		turn := h.As(Alice, typedIn(arguments))
		first, ok := i.call(h, turn, tool, arguments)
		if !ok || first.Error {
			return
		}
		before := h.Store(Alice).Values()
		turn.calls-- // the same key
		h.Advance(24 * time.Hour)
		i.call(h, turn, tool, arguments)
		if !maps.Equal(before, h.Store(Alice).Values()) {
			i.wrong("tool %s is declared idempotent; called with %.200s and the same key again, a day later, it stored something else", tool.Name, arguments)
		}
	})
}

// typedIn are the texts of arguments, so that the actor has typed them himself.
func typedIn(arguments json.RawMessage) string {
	var fields map[string]any
	_ = json.Unmarshal(arguments, &fields)
	var typed []string
	for _, value := range fields {
		if text, ok := value.(string); ok {
			typed = append(typed, text)
		}
	}
	return strings.Join(typed, "\n")
}

// livesWithoutItsStore: the network may be away.
func livesWithoutItsStore(i *inspection) {
	h := i.host()
	h.StoreAway(fmt.Errorf("the store cannot be reached"))
	i.drawn(h, some, mark, func(tool plugins.Tool, arguments json.RawMessage) {
		before := h.missed()
		result, ok := i.call(h, h.As(Alice, typedIn(arguments)), tool, arguments)
		if ok && !result.Error && h.missed() > before {
			i.wrong("tool %s, called with %.200s: every call of its store failed, and it says that all is well: %s", tool.Name, arguments, firstLine(result.Text))
		}
	})
	turn := h.As(Alice, "Do it.")
	turn.Sees(chat.Thread, Bob, "hello")
	i.ends(h, turn)
}
