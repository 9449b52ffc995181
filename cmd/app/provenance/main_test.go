// Package provenance plays with named people, through a whole Reeve: who is
// shown what, whose words stand as the request, and that this outlives restarts,
// summaries and small windows.
package provenance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"reeve/cmd/app/apptest"
	"reeve/plugins"
)

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{office{}}) }

// office is a plugin with a tool that spends its actor's rights, one that spends
// nobody's, and a section with something private in it.
type office struct{}

func (office) Name() string { return "office" }

func (office) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	tool := func(name, provider string, call func(plugins.Call) string) plugins.Tool {
		return plugins.MustTool(plugins.Tool{
			Name: name, Description: "Reads " + name + ".", Effect: plugins.Pure, Access: plugins.Read, Provider: provider,
		}, func(_ context.Context, c plugins.Call, _ struct{}) (plugins.Result, error) {
			return plugins.Result{Text: call(c)}, nil
		})
	}
	return plugins.Extension{
		Tools: []plugins.Tool{
			tool("mail", "post", func(c plugins.Call) string { return "[mail of " + c.Actor.Key() + "]" }),
			tool("book", "", func(plugins.Call) string { return "[page] " + strings.Repeat("and so on ", 6000) }),
			tool("transcript", "", transcript),
		},
		Sections: []plugins.Section{{Name: "notes", Render: func(_ context.Context, c plugins.Call) ([]plugins.Note, error) {
			return []plugins.Note{
				{Text: "[house rules]"}, {Text: "[diary of " + c.Actor.Key() + "]", Author: c.Actor, Private: true},
			}, nil
		}}},
	}, nil
}

// transcript is what a plugin is given, a line an entry.
func transcript(c plugins.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "actors %v contributors %v\n", c.Actors, c.Contributors)
	for _, e := range c.Transcript {
		fmt.Fprintf(&b, "%s %s %s private=%v principal=%s instruction=%v: %.60s\n",
			e.ID, e.Origin, e.Author.Key(), e.Private, e.Principal.Key(), c.Instruction(e), e.Text)
	}
	return b.String()
}
