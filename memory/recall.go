package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

type recallIn struct {
	Question string `json:"question,omitempty" jsonschema:"what you want to know; leave it out to send the person everything"`
}

const (
	// recalled is how many memories a question brings at most.
	recalled = 10
	ofPerson = "of the person"
)

func (p *Plugin) recall(ctx context.Context, call plugins.Call, in recallIn) (plugins.Result, error) {
	owner, ok := Personal(call.Actor)
	if !ok {
		return refused("This turn acts for no person, and nothing is remembered of anybody else here. " + ownMessage), nil
	}
	mine, err := p.options.Store.Held(ctx, owner, p.services.Now())
	if err != nil {
		return plugins.Result{}, err
	}
	if strings.TrimSpace(in.Question) == "" {
		return plugins.Result{Text: counted(len(mine)), DM: list(mine)}, nil
	}
	var ours []Memory
	if place, ok := Shared(call.Conversation); ok && call.Visibility == chat.Public {
		if ours, err = p.options.Store.Held(ctx, place, p.services.Now()); err != nil {
			return plugins.Result{}, err
		}
	}
	lines := append(listed(ofPerson, p.ranker.rank(ctx, in.Question, mine)), listed("for this channel", p.ranker.rank(ctx, in.Question, ours))...)
	if len(lines) == 0 {
		return plugins.Result{Text: "Nothing of that is remembered."}, nil
	}
	return plugins.Result{Text: strings.Join(lines, "\n")}, nil
}

// counted says to the model what the person was sent.
func counted(n int) string {
	switch n {
	case 0:
		return "Nothing is remembered of the person you act for. A direct message that says so was sent to them."
	case 1:
		return "There is 1 memory. It was sent to the person as a direct message; it is not shown here."
	}
	return fmt.Sprintf("There are %d memories. The list was sent to the person as a direct message; it is not shown here.", n)
}

func listed(of string, memories []Memory) []string {
	var lines []string
	for _, m := range memories[:min(len(memories), recalled)] {
		line := fmt.Sprintf("%s %s (%s, %s, since %s): %s", m.ID, m.Topic, of, m.Kind, m.Created.Format("2006-01-02"), m.Text)
		if of != ofPerson {
			line += by("from", m.Authors())
		}
		lines = append(lines, line)
	}
	return lines
}

// maxList bounds a list, in bytes: a direct message from a call is not longer than
// a result.
const maxList = 48 << 10

// list shows memories to their owner, newest first.
func list(memories []Memory) string {
	if len(memories) == 0 {
		return "Nothing is remembered of you."
	}
	var b strings.Builder
	for i, m := range slices.Backward(memories) {
		line := fmt.Sprintf("- **%s**: %s (%s, since %s, until %s)\n", m.Topic, m.Text, m.Kind, m.Created.Format("2006-01-02"), m.Expires.Format("2006-01-02"))
		if b.Len()+len(line) > maxList {
			fmt.Fprintf(&b, "\nThere are %d older ones. My home tab sends you all of them.\n", i+1)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
