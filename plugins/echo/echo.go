// Package echo is the example of a plugin, to be copied: a tool, a prompt
// section, a completed-turn task, a setting and something stored, in one file.
// It repeats a text, and keeps for a person what he himself wanted repeated.
package echo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reeve/plugins"
)

// New is the plugin.
func New() plugins.Plugin { return &echo{} }

// echo is shared by all people and all calls: what is kept for a person belongs
// into the store, never into a field.
type echo struct{ settings settings }

// settings come from the environment: the one below is ECHO_KEEP.
type settings struct {
	Keep int `env:"KEEP" envDefault:"10"`
}

func (*echo) Name() string { return "echo" }

// Open is called once, at start.
func (p *echo) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	if err := services.Settings(&p.settings); err != nil {
		return plugins.Extension{}, err
	}
	if p.settings.Keep < 1 {
		return plugins.Extension{}, fmt.Errorf("ECHO_KEEP is %d; it may be 1 or more", p.settings.Keep)
	}
	return plugins.Extension{
		Tools: []plugins.Tool{plugins.MustTool(plugins.Tool{
			Name:        "echo",
			Description: "Repeats a text word for word.",
			Effect:      plugins.Idempotent, // made again, it stores the same once more
			Access:      plugins.Write,
		}, p.repeat)},
		Sections: []plugins.Section{{Name: "kept", Render: p.remind}},
		Tasks:    []plugins.Task{{Name: "tidy", Wants: used, Run: p.tidy}},
	}, nil
}

// arguments are what the model fills in; the schema is made of them.
type arguments struct {
	Text string `json:"text" jsonschema:"the text to repeat"`
}

// repeat is the tool.
func (p *echo) repeat(ctx context.Context, call plugins.Call, in arguments) (plugins.Result, error) {
	result := plugins.Result{Text: in.Text}
	if strings.TrimSpace(in.Text) == "" {
		return plugins.Result{Error: true, Text: "There is nothing to repeat: text is empty."}, nil
	}
	// The model chose the text, and others may have talked it into that. What
	// is kept in a person's name is what he himself has typed in this turn:
	// Instruction is the one test for that.
	typed := slices.ContainsFunc(call.Transcript, func(e plugins.Entry) bool {
		return call.Instruction(e) && strings.Contains(e.Text, in.Text)
	})
	if !typed {
		return result, nil
	}
	// The store is the actor's own. Keys of calls begin with their turn's id, and
	// so sort by time.
	return result, call.Store.Set(ctx, call.Key, []byte(in.Text))
}

// remind is the section: the model reads it as information, not as a request.
func (p *echo) remind(ctx context.Context, call plugins.Call) ([]plugins.Note, error) {
	keys, err := call.Store.Keys(ctx)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	text, found, err := call.Store.Get(ctx, keys[len(keys)-1])
	if err != nil || !found {
		return nil, err
	}
	// Private, since it may have been said elsewhere: others do not read it.
	return []plugins.Note{{Text: "Last repeated: " + plugins.CutMiddle(string(text), 1000), Author: call.Actor, Private: true}}, nil
}

// used says whether a turn needs the task.
func used(ended plugins.Ended) bool {
	return slices.ContainsFunc(ended.Transcript, func(e plugins.Entry) bool { return e.Turn == ended.Turn && e.Tool == "echo" })
}

// tidy is the task: it keeps the newest texts. Whoever runs it twice, or late,
// finds the same, as a task must.
func (p *echo) tidy(ctx context.Context, ended plugins.Ended) error {
	keys, err := ended.Store.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys[:max(len(keys)-p.settings.Keep, 0)] {
		if err := ended.Store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
