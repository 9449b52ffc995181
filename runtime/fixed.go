package runtime

import (
	"context"
	"encoding/json"
	"slices"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// fixed is what a turn's first run found out and every later one shows alike,
// whatever has become of it meanwhile. It stands in the turn's log.
type fixed struct {
	Actor string `json:"actor,omitempty"` // the actor's display name
	Zone  string `json:"zone,omitempty"`
	// Note says what is missing in front of the turn.
	Note string `json:"note,omitempty"`
	// From is the oldest closed turn that is shown, where older ones are not.
	From int64 `json:"from,omitempty"`
	// Names are display names by actor, the empty ones too.
	Names map[string]string `json:"names,omitempty"`

	known bool // it stands in the log
	news  bool // something of it does not
}

// begun takes what was fixed out of a log's entries. Names that came later
// stand further behind.
func begun(own []chat.Entry) ([]chat.Entry, fixed) {
	var f fixed
	rest := slices.DeleteFunc(slices.Clone(own), func(e chat.Entry) bool {
		if e.Origin == chat.Begun {
			f.known = json.Unmarshal([]byte(e.Text), &f) == nil || f.known // adds to the names
		}
		return e.Origin == chat.Begun
	})
	return rest, f
}

// entry is what a log keeps.
func (f *fixed) entry() chat.Entry {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings cannot fail to encode
	}
	f.news = false
	return chat.Entry{Role: chat.UserRole, Origin: chat.Begun, Text: string(text)}
}

// name gives entries the names of their authors. A message is stored before
// anybody is asked who wrote it; its turn runs when that is known.
func (r *Runtime) name(entries []chat.Entry, f *fixed) {
	for i, e := range entries {
		author := e.Author()
		if e.Name != "" || e.Message == nil || !author.IsPerson() {
			continue
		}
		name, known := f.Names[author.Key()]
		if !known {
			facts, _ := r.opts.Slack.Known(author)
			if f.Names == nil {
				f.Names = map[string]string{}
			}
			name, f.Names[author.Key()], f.news = facts.Name, facts.Name, true
		}
		entries[i].Name = name
	}
}

// begin fixes what a first run has found out, and what plugins add to it, in
// its first commit. Where that can wait it waits for the first one that there is
// anyhow.
func (l *turnLog) begin(ctx context.Context, sections []chat.Entry) error {
	l.fixed.news = true
	l.sections = sections
	if len(l.thread) == 0 {
		return nil
	}
	_, err := l.write(ctx, mailbox.Commit{}, nil)
	return err
}

// unwritten is what the next commit writes in front of its entries.
func (l *turnLog) unwritten() []chat.Entry {
	entries := l.sections
	if l.fixed.news {
		entries = append([]chat.Entry{l.fixed.entry()}, entries...)
	}
	l.sections = nil
	return entries
}
