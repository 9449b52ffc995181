package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// story is a turn as JSON. Texts are in it only when they are asked for.
type story struct {
	mailbox.Work
	Runs    []mailbox.Claiming `json:"runs"`
	Commits int64              `json:"commits"`
	Ran     string             `json:"ran"`
	Wait    string             `json:"wait,omitempty"`
	Ended   chat.How           `json:"wait_ended,omitempty"`
	Waits   []mailbox.Waiting  `json:"waits,omitempty"`
	StopBy  string             `json:"stopped_by,omitempty"`
	Closed  time.Time          `json:"closed,omitzero"`
	Log     []storyItem        `json:"log"`
	Unread  []storyItem        `json:"unread,omitempty"`
	Unsent  []string           `json:"unsent,omitempty"`
	// Tasks are plugins' tasks after the turn, and TasksLeft those that are not over.
	Tasks     []mailbox.TaskName `json:"tasks,omitempty"`
	TasksLeft []mailbox.TaskName `json:"tasks_left,omitempty"`
}

// storyItem is one item of a turn's log.
type storyItem struct {
	N    int       `json:"n"`
	Kind string    `json:"kind"`
	Who  string    `json:"who,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Decision is what became of a message when it came.
	Decision chat.Disposition `json:"decision,omitempty"`
	Tools    []string         `json:"tools,omitempty"`
	Tokens   int              `json:"tokens,omitempty"`
	Bytes    int              `json:"bytes"`
	Text     string           `json:"text,omitempty"`
}

// tell makes a turn's story of what the store knows.
func tell(s mailbox.Story, texts bool) story {
	t := story{
		Work: s.Work, Runs: items(s.Runs), Commits: s.Commits, Ran: s.Ran.Round(time.Millisecond).String(),
		Wait: s.Wait, Ended: s.Ended, Waits: s.Waits, Closed: s.Closed, Log: []storyItem{},
		Tasks: s.Tasks, TasksLeft: s.TasksLeft,
	}
	if s.Stop != nil {
		t.StopBy = s.Stop.By.Key()
	}
	for i, item := range s.Log {
		t.Log = append(t.Log, tellItem(i, item, s.Decisions[item.TS], texts))
	}
	for i, u := range s.Unread {
		t.Unread = append(t.Unread, storyItem{N: i, Kind: "unread", Who: u.Author.Key(), At: u.TS.Time(), Decision: s.Decisions[u.TS]})
	}
	for _, p := range s.Unsent {
		t.Unsent = append(t.Unsent, p.ID)
	}
	return t
}

func tellItem(n int, item mailbox.Item, decision chat.Disposition, texts bool) storyItem {
	i := storyItem{N: n, Kind: string(item.Taken), Who: item.Author.Key(), At: item.TS.Time(), Decision: decision, Bytes: len(item.Body)}
	text := ""
	if item.Taken == mailbox.EntryItem {
		var e chat.Entry
		if json.Unmarshal(item.Body, &e) != nil {
			i.Kind = "unreadable"
			return i
		}
		i.Kind, i.At, i.Tokens, text = string(e.Origin), e.Time, e.Tokens, e.Text
		if !e.Author().IsZero() {
			i.Who = e.Author().Key()
		}
		for _, call := range e.Calls {
			i.Tools = append(i.Tools, call.Tool)
			text += "\n" + call.Tool + " " + call.Arguments
		}
		if e.Tool != "" {
			i.Tools = append(i.Tools, e.Tool)
		}
	} else {
		var m chat.Message
		if json.Unmarshal(item.Body, &m) == nil {
			text = m.Text
			if i.Who == "" {
				i.Who = m.Author.Key()
			}
		}
	}
	if texts {
		i.Text = strings.TrimSpace(text)
	}
	return i
}

// story prints a turn's story.
func (r report) story(s mailbox.Story, texts bool) error {
	t := tell(s, texts)
	if r.json {
		return r.asJSON(t)
	}
	line := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(r.out, "%-13s %s\n", name, value)
		}
	}
	line("turn", string(t.Turn))
	line("state", t.State+or(t.Untouched, " (nobody touched it for a day: resume or abandon it)")+or(t.Stopping, " (being stopped)"))
	line("actor", t.Actor.Key())
	line("conversation", t.Conversation.Key())
	line("began", at(t.Born))
	line("ended", at(t.Closed))
	line("ran", t.Ran)
	line("attempt", or(t.Attempt > 0, fmt.Sprintf("%d, after %d commits", t.Attempt, t.Commits)))
	for i, run := range t.Runs {
		line(fmt.Sprintf("run %d", i+1), at(run.At)+" by "+run.Owner)
	}
	line("waits for", or(t.State == "parked", t.Wait))
	line("wait ended", string(t.Ended))
	for i, w := range t.Waits {
		ended := or(!w.Ended.IsZero(), ", "+string(w.How)+or(!w.By.IsZero(), " by "+w.By.Key())+" "+at(w.Ended))
		line(fmt.Sprintf("wait %d", i+1), w.Kind+" since "+at(w.Asked)+ended)
	}
	line("stopped by", t.StopBy)
	line("not posted", strings.Join(t.Unsent, " "))
	line("tasks", spaced(t.Tasks))
	line("tasks left", spaced(t.TasksLeft))
	_, _ = fmt.Fprintln(r.out)
	var rows [][]string
	for _, i := range append(t.Log, t.Unread...) {
		rows = append(rows, []string{fmt.Sprint(i.N), i.Kind, i.Who, at(i.At), string(i.Decision), strings.Join(i.Tools, " "),
			or(i.Tokens > 0, fmt.Sprint(i.Tokens)), fmt.Sprint(i.Bytes)})
	}
	r.table("its log is empty", []string{"#", "KIND", "WHO", "AT", "DECIDED", "TOOLS", "TOKENS", "BYTES"}, rows)
	for _, i := range t.Log {
		if i.Text != "" {
			_, _ = fmt.Fprintf(r.out, "\n#%d %s:\n%s\n", i.N, i.Kind, printable(i.Text))
		}
	}
	return nil
}

func spaced(names []mailbox.TaskName) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, " ")
}

func at(t time.Time) string {
	if t.IsZero() || t.Unix() <= 0 {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
