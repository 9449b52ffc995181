package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Model answers one request with JSON that should fit a schema. What it answers
// is checked all the same.
type Model interface {
	Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error)
}

var (
	//go:embed prompts/personal.md
	personalPrompt string
	//go:embed prompts/shared.md
	sharedPrompt string
	//go:embed prompts/review.md
	reviewPrompt string
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
}

// personal is what can be learnt of a turn's actor; ok is false where nothing
// may be.
func personal(run plugins.Run) (x extraction, ok bool) {
	owner, ok := Personal(run.Actor)
	given := personalEvidence(run)
	return extraction{owner, personalPrompt, given}, ok && len(given) > 0
}

// shared is what can be learnt for a turn's channel.
func shared(run plugins.Run) (x extraction, ok bool) {
	owner, ok := Shared(run.Conversation)
	given := sharedEvidence(run)
	return extraction{owner, sharedPrompt, given}, ok && len(given) > 0
}

// propose asks the model once, and once more where the answer is no JSON of the
// form that was asked for. What does not stand up to the check is dropped; why
// is for the log.
func (x extraction) propose(ctx context.Context, model Model, run plugins.Run, services plugins.Services) ([]Memory, error) {
	var answer struct {
		Memories []proposal `json:"memories"`
	}
	if err := ask(ctx, model, x.prompt, x.input(), proposalSchema, &answer); err != nil {
		return nil, err
	}
	var memories []Memory
	for i, p := range answer.Memories {
		if i == maxProposals {
			break
		}
		m, err := accept(p, x.owner, run.Turn, x.given, services.Now())
		if err == nil && plugins.HasSecret(p.Text+" "+p.Topic) {
			err = errSecret
		}
		if err != nil {
			services.Log.Info("proposed memory dropped", "turn", run.Turn, "owner", x.owner.Key(), "err", err)
			continue
		}
		memories = append(memories, m)
	}
	return review(ctx, model, x.owner, memories)
}

// input is what the model reads: the entries, numbered, and nothing else. Of a
// shared extraction's entries it also learns by id who wrote them.
func (x extraction) input() string {
	type line struct {
		Entry  int    `json:"entry"`
		Author string `json:"author,omitempty"`
		Text   string `json:"text"`
	}
	room, lines := maxInput, []line{}
	for i, e := range x.given {
		l := line{Entry: i + 1, Text: e.Text}
		if !x.owner.IsPersonal() {
			l.Author = e.Author.Key()
			if e.Origin == chat.Result {
				l.Author = "tool"
			}
		}
		if room -= len(l.Text); room < 0 {
			break
		}
		lines = append(lines, l)
	}
	text, err := json.Marshal(lines)
	if err != nil {
		panic(err) // strings and numbers encode
	}
	return string(text)
}

var (
	errSecret = errors.New("it looks like a password, a key or a token")
	errAnswer = errors.New("the model's answer is not of the form that was asked for")
)

// ask makes a model call whose answer is decoded, and repeats it once.
func ask(ctx context.Context, model Model, system, user string, schema json.RawMessage, into any) error {
	for range 2 {
		text, err := model.Complete(ctx, system, user, schema)
		if err != nil {
			return fmt.Errorf("ask for memories: %w", err)
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if decoder.Decode(into) == nil && !decoder.More() {
			return nil
		}
	}
	return errAnswer
}

// verdict is what a reviewer says of one memory.
type verdict struct {
	Memory int `json:"memory"` // from 1
	// Sensitive: it is of a kind that is never remembered.
	Sensitive bool `json:"sensitive"`
	// OfOthers: it says something personal about somebody who is not its owner.
	OfOthers bool `json:"of_others"`
	// Order: it tells whoever reads it what to do.
	Order bool `json:"order"`
}

// review has every memory looked at by a call that reads nothing else. A
// memory of which nothing is said is not kept.
func review(ctx context.Context, model Model, owner Owner, memories []Memory) ([]Memory, error) {
	if len(memories) == 0 {
		return nil, nil
	}
	type line struct {
		Memory int    `json:"memory"`
		Text   string `json:"text"`
	}
	lines := make([]line, len(memories))
	for i, m := range memories {
		lines[i] = line{i + 1, said(m)}
	}
	text, err := json.Marshal(lines)
	if err != nil {
		panic(err) // strings and numbers encode
	}
	var answer struct {
		Verdicts []verdict `json:"verdicts"`
	}
	prompt := strings.ReplaceAll(reviewPrompt, "{{kinds}}", "- "+strings.Join(Sensitive, "\n- "))
	if err := ask(ctx, model, prompt, string(text), verdictSchema, &answer); err != nil {
		return nil, err
	}
	passed := map[int]bool{}
	for _, v := range answer.Verdicts {
		if _, twice := passed[v.Memory]; twice {
			passed[v.Memory] = false
			continue
		}
		passed[v.Memory] = !v.Sensitive && !v.OfOthers && (owner.IsPersonal() || !v.Order)
	}
	var kept []Memory
	for i, m := range memories {
		if passed[i+1] {
			kept = append(kept, m)
		}
	}
	return kept, nil
}
