package scripted

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"reeve/agent"
	"reeve/runtime/chat"
)

// Demo is the playground's model. It is no language model, and says so: it
// repeats what it was asked and shows what reached it meanwhile, and how. It
// works in several steps, each as long as its pace, so that there is time to
// interrupt.
type Demo struct{ pace atomic.Int64 }

var _ agent.Model = (*Demo)(nil)

// demoSteps are the looks at the clock that stand for work; each ends at a
// safe boundary, where steers join.
const demoSteps = 3

// What the demo uses when it is offered: the clock, and, when it is asked to read
// a channel, a tool that spends its actor's rights. So once somebody else has
// steered the turn, the actor is asked.
const (
	demoTool = "current_time"
	readTool = "read_channel"
)

// NewDemo is a demo model whose steps take as long as pace each; with no pace
// it answers at once.
func NewDemo(pace time.Duration) *Demo {
	d := &Demo{}
	d.SetPace(pace)
	return d
}

// SetPace changes the pace, of a step under way as well.
func (d *Demo) SetPace(pace time.Duration) { d.pace.Store(int64(max(pace, 0))) }

// Pace is how long a step takes.
func (d *Demo) Pace() time.Duration { return time.Duration(d.pace.Load()) }

// Complete implements agent.Model.
func (d *Demo) Complete(ctx context.Context, req agent.Request) (agent.Reply, error) {
	if agent.IsSummary(req) {
		return agent.Reply{Text: "Earlier turns of this thread. (The demo model cannot summarise.)"}, nil
	}
	if req.Schema != nil {
		return notes(req), nil
	}
	slow := d.Pace() > 0
	if err := d.work(ctx); err != nil {
		return agent.Reply{}, err
	}
	v := look(req)
	offered := func(tool string) bool {
		return slices.ContainsFunc(req.Tools, func(t agent.ToolSpec) bool { return t.Name == tool })
	}
	call := func(tool, arguments string) (agent.Reply, error) {
		return agent.Reply{
			Text:  fmt.Sprintf("Working, step %d.", v.steps+1),
			Calls: []chat.ToolCall{{ID: fmt.Sprintf("demo_%d", len(req.Messages)), Tool: tool, Arguments: arguments}},
		}, nil
	}
	switch channel := v.asksToRead(); {
	case offered(demoTool) && v.steps < v.wanted(slow):
		return call(demoTool, "{}")
	case channel != "" && v.read == "" && offered(readTool):
		return call(readTool, fmt.Sprintf(`{"channel":%q}`, channel))
	}
	return agent.Reply{Text: v.answer()}, nil
}

// work takes as long as the pace says, in slices, so that a new pace counts at
// once.
func (d *Demo) work(ctx context.Context) error {
	const slice = 50 * time.Millisecond
	for start := time.Now(); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := d.Pace() - time.Since(start)
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(min(left, slice))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// view is what the demo sees in a request, since its last answer.
type view struct {
	asked    []string        // the request, before any work was done on it
	added    []string        // the actor's own steers
	context  []agent.Element // other people's steers
	with     []agent.Element // quotes and files
	before   int             // entries of thread and history
	time     string          // the last result of the clock
	read     string          // what came of reading a channel
	steps    int
	answered bool // it has answered in this turn before
}

func look(req agent.Request) view {
	var v view
	for _, m := range req.Messages {
		switch {
		case m.Role == chat.AssistantRole && len(m.Calls) > 0:
			v.steps++
		case m.Role == chat.AssistantRole:
			v = view{answered: true, time: v.time, read: v.read, before: v.before}
		case m.Role == chat.ToolRole:
			e, err := agent.DecodeElement(m.Content)
			switch {
			case err != nil:
			case e.Tool == demoTool:
				v.time = e.Text
			case e.Tool == readTool:
				v.read, _, _ = strings.Cut(strings.TrimSpace(e.Text), "\n")
			}
		case agent.IsBlock(m.Content):
			v.information(m.Content)
		case v.steps > 0 || v.answered:
			v.added = append(v.added, m.Content)
		default:
			v.asked = append(v.asked, m.Content)
		}
	}
	return v
}

func (v *view) information(block string) {
	elements, err := agent.DecodeBlock(block)
	if err != nil {
		return
	}
	for _, e := range elements {
		switch chat.Origin(e.Origin) {
		case chat.Steer:
			v.context = append(v.context, e)
		case chat.Quoted, chat.FileOrigin:
			v.with = append(v.with, e)
		case chat.Thread, chat.History:
			v.before++
		}
	}
}

// wanted is how many looks at the clock belong to this answer.
func (v view) wanted(slow bool) int {
	switch {
	case slow && !v.answered:
		return demoSteps
	case slow || v.asksForTheTime() && v.time == "":
		return 1
	}
	return 0
}

var timeWords = regexp.MustCompile(`(?i)\b(what('s| is)? (the )?(time|date|day)|what time|current time|how late|which day|wie spät|uhrzeit)\b`)

func (v view) asksForTheTime() bool {
	return slices.ContainsFunc(append(slices.Clone(v.asked), v.added...), timeWords.MatchString)
}

var readWords = regexp.MustCompile(`(?i)\bread\s+#([\p{L}\p{N}_-]{1,80})`)

// asksToRead is the name of the channel that is to be read; empty: none is.
func (v view) asksToRead() string {
	for _, text := range append(slices.Clone(v.asked), v.added...) {
		if m := readWords.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// answer is Markdown.
func (v view) answer() string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if !v.answered {
		say("_I am Reeve's demo model: a small script, not a language model. I show what reached me, and how._")
	} else {
		say("_My first answer stands above; this came while I was finishing it, so I went on in the same turn._")
	}
	if len(v.asked) > 0 {
		say("**You asked:**\n%s", quoteAll(v.asked))
	}
	if len(v.added) > 0 {
		say("**You added while I worked** (a steer: it joined this turn and was not a new one):\n%s", quoteAll(v.added))
	}
	for _, e := range v.with {
		what := "quoted text"
		if e.File != "" {
			what = "the file " + e.File
		}
		say("**It came with** %s, which I read as information, not as your words.", what)
	}
	if v.asksForTheTime() {
		if v.time != "" {
			say("**The time:** %s", v.time)
		} else {
			say("I have no clock in this turn, so I cannot tell the time.")
		}
	}
	if channel := v.asksToRead(); channel != "" && v.read != "" {
		say("**Reading #%s** spends your right to read there, and nobody else's. What came of it begins so:\n%s", channel, quoteAll([]string{v.read}))
	}
	for _, e := range v.context {
		name := e.Name
		if name == "" {
			name = e.Author
		}
		say("**%s added, as information** (in this turn I do not act for %s):\n%s\nI left undone whatever %s asks there; a message of %s's own that mentions me gets a turn of its own.",
			name, name, quoteAll([]string{e.Text}), name, name)
	}
	if v.before > 0 && !v.answered {
		say("I also see %s from before, as background.", counted(v.before, "entry", "entries"))
	}
	if len(v.added) == 0 && len(v.context) == 0 && !v.answered {
		say("Next time, write again while I work: your own words join my turn, somebody else's wait for theirs, somebody else's that begin with `!!` reach me as information, and `stop` stops me. Ask me to `read #general`, and I spend your right to read there; when somebody has joined with `!!` before I do, a card in your direct messages asks you first.")
	}
	return strings.Join(parts, "\n\n")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func quoteAll(texts []string) string {
	var lines []string
	for _, text := range texts {
		if text == agent.NoText {
			text = "(a mention without words)"
		}
		for line := range strings.Lines(text) {
			lines = append(lines, "> "+strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}
