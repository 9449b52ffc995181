package chaos

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/runtime/chat"
)

// Every message that is said holds a word of its own, whose first letter says
// what is asked: p(lainly), s(lowly), o(nce), i(dempotently), and c(hatter) that
// asks for nothing.
var words = regexp.MustCompile(`\b[psoic]\d{4}\b`)

// heard is what one model request says that is not answered yet.
type heard struct {
	asked  []string          // as requests of the turn's actor
	told   []string          // as information that was steered into the turn
	called map[string]bool   // words for which a call was made
	result map[string]string // what came of it: did, or unknown
	// known are all words that people said, wherever they stand.
	known []string
}

// listen reads a request back to the turn's last answer.
func listen(r scripted.Request) heard {
	h := heard{called: map[string]bool{}, result: map[string]string{}}
	answered := 0 // the message behind the last answer
	for i, m := range r.Messages {
		if m.Role == "assistant" && len(m.ToolCalls) == 0 {
			answered = i
		}
	}
	calls := map[string]string{}
	for i, m := range r.Messages {
		for _, c := range m.ToolCalls {
			calls[c.ID] = words.FindString(c.Function.Arguments)
			h.called[calls[c.ID]] = true
		}
		switch {
		case m.Role == "tool":
			e, _ := agent.DecodeElement(m.Content)
			h.result[calls[m.ToolCallID]] = "unknown"
			if strings.Contains(e.Text, "did "+calls[m.ToolCallID]) {
				h.result[calls[m.ToolCallID]] = "did"
			}
		case m.Role != "user":
		case !agent.IsBlock(m.Content):
			found := words.FindAllString(m.Content, -1)
			h.known = append(h.known, found...)
			if i >= answered {
				h.asked = append(h.asked, found...)
			}
		default:
			elements, _ := agent.DecodeBlock(m.Content)
			for _, e := range elements {
				if e.Tool != "" || !strings.HasPrefix(e.Author, "T1:U") {
					continue // our own words, or what a tool said
				}
				found := words.FindAllString(e.Text, -1)
				h.known = append(h.known, found...)
				if i >= answered && e.Origin == string(chat.Steer) {
					h.told = append(h.told, found...)
				}
			}
		}
	}
	return h
}

// answer is what the model says to it: first the calls that are asked for, and
// then every word, with what came of it.
func (h heard) answer() scripted.Step {
	var calls []scripted.Step
	var said []string
	for _, w := range h.asked {
		tool := map[byte]string{'o': onceTool, 'i': sameTool}[w[0]]
		if tool != "" && !h.called[w] {
			calls = append(calls, scripted.Call("", tool, effectIn{w}))
		}
		if h.result[w] != "" {
			w += "-" + h.result[w]
		}
		said = append(said, w)
	}
	step := scripted.Answer("asked " + strings.Join(said, " ") + " told " + strings.Join(h.told, " "))
	if len(calls) > 0 {
		step = scripted.Calls(calls...)
	}
	pause := rand.N(40 * time.Millisecond)
	if slices.ContainsFunc(h.asked, func(w string) bool { return w[0] == 's' }) {
		pause += 300 * time.Millisecond
	}
	step, release := step.Held()
	time.AfterFunc(pause, release)
	return step
}

// reply is what one post says.
type reply struct {
	asked []string
	told  []string
	// outcome of a word for which a call was made.
	outcome map[string]string
}

var outcome = regexp.MustCompile(`\b([oi]\d{4})-(did|unknown)\b`)

func readReply(text string) (r reply, ok bool) {
	asked, told, ok := strings.Cut(text, " told")
	if !ok || !strings.HasPrefix(asked, "asked") {
		return r, false
	}
	r.asked, r.told, r.outcome = words.FindAllString(asked, -1), words.FindAllString(told, -1), map[string]string{}
	for _, m := range outcome.FindAllStringSubmatch(asked, -1) {
		r.outcome[m[1]] = m[2]
	}
	return r, true
}
