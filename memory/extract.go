package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"

	"reeve/plugins"
	"reeve/runtime/chat"
)

var (
	//go:embed prompts/personal.md
	personalPrompt string
	//go:embed prompts/shared.md
	sharedPrompt string
	//go:embed prompts/asked.md
	askedPrompt string
)

const (
	// maxProposals is how many memories one turn can make.
	maxProposals = 5
	// maxInput bounds what a model is given, in bytes.
	maxInput = 48 << 10
)

// extraction is one model call and what may become of it.
type extraction struct {
	owner  Owner
	prompt string
	given  []plugins.Entry
	// asked are the words that somebody has asked to have kept; none: whatever is
	// worth it.
	asked []Span
	// payer is whose tokens it costs.
	payer chat.Actor
	// by is the call or the task that writes.
	by string
}

// personal is what can be learnt of a turn's actor; ok is false where nothing
// may be.
func personal(run plugins.Run) (x extraction, ok bool) {
	owner, ok := Personal(run.Actor)
	given := personalEvidence(run)
	return extraction{owner: owner, prompt: personalPrompt, given: given, payer: run.Actor}, ok && len(given) > 0
}

// shared is what can be learnt for a turn's channel.
func shared(run plugins.Run) (x extraction, ok bool) {
	owner, ok := Shared(run.Conversation)
	given := sharedEvidence(run)
	return extraction{owner: owner, prompt: sharedPrompt, given: given, payer: run.Actor}, ok && len(given) > 0
}

// proposed are the memories of an extraction, and why others were dropped.
type proposed struct {
	memories []Memory
	dropped  []error
}

// propose asks the model once, and once more where the answer is no JSON of the
// form that was asked for. What does not stand up to the check is dropped, and
// so is what a review does not clear.
func (x extraction) propose(ctx context.Context, model Model, turn chat.TurnID, services plugins.Services) (found proposed, err error) {
	prompt := x.prompt
	if len(x.asked) > 0 {
		prompt += "\n" + askedPrompt
	}
	answer, err := ask[struct {
		Memories []proposal `json:"memories"`
	}](ctx, model, x.payer, prompt, x.input(), proposalSchema)
	if err != nil {
		return proposed{}, err
	}
	for _, p := range answer.Memories[:min(len(answer.Memories), maxProposals)] {
		m, err := accept(p, x.owner, turn, x.given, services.Now())
		if err == nil && !x.answers(m) {
			err = errNotAsked
		}
		if err != nil {
			services.Log.Info("proposed memory dropped", "turn", turn, "owner", x.owner.Key(), "err", err)
			found.dropped = append(found.dropped, err)
			continue
		}
		m.By, m.Asked = x.by, len(x.asked) > 0
		found.memories = append(found.memories, m)
	}
	before := len(found.memories)
	found.memories, err = review(ctx, model, x.payer, x.owner, found.memories)
	if len(found.memories) < before {
		found.dropped = append(found.dropped, errReview)
	}
	return found, err
}

// answers reports whether a memory rests on an entry in which somebody has asked
// for it.
func (x extraction) answers(m Memory) bool {
	return len(x.asked) == 0 || slices.ContainsFunc(m.Evidence.Spans, func(s Span) bool {
		return slices.ContainsFunc(x.asked, func(asked Span) bool { return asked.Entry == s.Entry })
	})
}

// input is what the model reads: the entries, numbered, and nothing else. Of a
// shared extraction's entries it also learns by id who wrote them.
func (x extraction) input() string {
	type line struct {
		Entry  int      `json:"entry"`
		Author string   `json:"author,omitempty"`
		Text   string   `json:"text"`
		Asked  []string `json:"asked,omitempty"`
	}
	lines := []line{}
	for i, e := range x.given {
		l := line{Entry: i + 1, Text: e.Text}
		if !x.owner.IsPersonal() {
			l.Author = e.Author.Key()
			if e.Origin == chat.Result {
				l.Author = "tool"
			}
		}
		for _, asked := range x.asked {
			if asked.Entry == e.ID {
				l.Asked = append(l.Asked, asked.Text)
			}
		}
		lines = append(lines, l)
	}
	text, err := json.Marshal(lines)
	if err != nil {
		panic(err) // strings and numbers encode
	}
	return string(text)
}
