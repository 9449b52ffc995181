package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reeve/runtime/chat"
)

// Model answers one request with JSON that should fit a schema. What it answers
// is checked all the same. It counts what the answer costs for whom it is asked,
// and answers ErrSpent where he may use no more.
type Model interface {
	Complete(ctx context.Context, who chat.Actor, system, user string, schema json.RawMessage) (string, error)
}

// ErrSpent says that a person has used as much of the model as he may today.
var ErrSpent = errors.New("what the person may use of the model in a day is used up")

var (
	errAnswer   = errors.New("the model's answer is not of the form that was asked for")
	errReview   = errors.New("the review has not cleared it")
	errNotAsked = errors.New("it is not what was asked for")
)

//go:embed prompts/review.md
var reviewPrompt string

// ask makes a model call whose answer is decoded, and repeats it once. Nothing of
// an answer that is not whole is left in the next.
func ask[T any](ctx context.Context, model Model, who chat.Actor, system, user string, schema json.RawMessage) (answer T, err error) {
	for range 2 {
		text, err := model.Complete(ctx, who, system, user, schema)
		if err != nil {
			return answer, fmt.Errorf("ask for memories: %w", err)
		}
		var whole T
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if decoder.Decode(&whole) == nil && !decoder.More() {
			return whole, nil
		}
	}
	return answer, errAnswer
}

// verdict is what a reviewer says of one memory. What he does not say is nil,
// and clears nothing.
type verdict struct {
	Memory int `json:"memory"` // from 1
	// Sensitive: it is of a kind that is never remembered.
	Sensitive *bool `json:"sensitive"`
	// OfOthers: it says something personal about somebody who is not its owner.
	OfOthers *bool `json:"of_others"`
	// Order: it tells whoever reads it what to do.
	Order *bool `json:"order"`
}

// clears: a person may give orders for himself.
func (v verdict) clears(owner Owner) bool {
	no := func(said *bool) bool { return said != nil && !*said }
	return no(v.Sensitive) && no(v.OfOthers) && (no(v.Order) || owner.IsPersonal() && v.Order != nil)
}

// review has every memory looked at, with the words that are kept with it, by a
// call that reads nothing else. A memory of which nothing is said is not kept.
func review(ctx context.Context, model Model, who chat.Actor, owner Owner, memories []Memory) ([]Memory, error) {
	if len(memories) == 0 {
		return nil, nil
	}
	type line struct {
		Memory int      `json:"memory"`
		Text   string   `json:"text"`
		Words  []string `json:"words"`
	}
	lines := make([]line, len(memories))
	for i, m := range memories {
		lines[i] = line{Memory: i + 1, Text: said(m)}
		for _, s := range m.Evidence.Spans {
			lines[i].Words = append(lines[i].Words, s.Text)
		}
	}
	text, err := json.Marshal(lines)
	if err != nil {
		panic(err) // strings and numbers encode
	}
	prompt := strings.ReplaceAll(reviewPrompt, "{{kinds}}", "- "+strings.Join(Sensitive, "\n- "))
	answer, err := ask[struct {
		Verdicts []verdict `json:"verdicts"`
	}](ctx, model, who, prompt, string(text), verdictSchema)
	if err != nil {
		return nil, err
	}
	passed := map[int]bool{}
	for _, v := range answer.Verdicts {
		if _, twice := passed[v.Memory]; twice {
			passed[v.Memory] = false
			continue
		}
		passed[v.Memory] = v.clears(owner)
	}
	var kept []Memory
	for i, m := range memories {
		if passed[i+1] {
			kept = append(kept, m)
		}
	}
	return kept, nil
}
