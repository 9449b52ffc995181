package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// The commands of an operator read the store of a running deployment, and
// change nothing in it but what they are told to.

type turnsCommand struct {
	All  bool `help:"Also the newest turns that have ended."`
	JSON bool `name:"json" help:"Print JSON."`
}

type turnCommand struct {
	ID    string `arg:"" help:"The turn's id, or its last six characters."`
	Do    string `arg:"" optional:"" enum:"show,abandon,resume" default:"show" help:"show (the default), abandon (end it, whoever runs it; its actor is told) or resume (go on with one that nobody had touched for a day)."`
	Texts bool   `help:"Also what people and the model wrote."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

type outboxCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type deadCommand struct {
	Do   string `arg:"" optional:"" enum:"list,show" default:"list" help:"list (the default), or show."`
	ID   string `arg:"" optional:"" help:"Of the record to show."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// report is where an operator's command reads and writes.
type report struct {
	p        *process
	box      *mailbox.Box
	out      io.Writer
	json     bool
	settings Settings
}

// operate opens the store that run would open, for one command.
func operate(p *process, asJSON bool, command func(report) error) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if settings.RedisURL == "" {
		return &ConfigError{[]string{"REDIS_URL is not set: without it a bot keeps everything in the memory of its own process, where no other can look"}}
	}
	box, err := mailbox.Open(storeOptions(settings))
	if err != nil {
		return &ConfigError{[]string{"REDIS_URL: " + err.Error()}}
	}
	defer box.Shutdown()
	return command(report{p, box, redactedWriter{p.options.Stdout, newRedactor(p.secrets...)}, asJSON, settings})
}

// asJSON prints a value in the form that programs read.
func (r report) asJSON(value any) error {
	e := json.NewEncoder(r.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// table prints rows under a heading, in columns; with no rows, a sentence.
func (r report) table(none string, heading []string, rows [][]string) {
	if len(rows) == 0 {
		_, _ = fmt.Fprintln(r.out, none)
		return
	}
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = w.Flush()
}

func (c turnsCommand) Run(p *process) error {
	return operate(p, c.JSON, func(r report) error {
		work, now, err := r.box.Survey(p.ctx, c.All)
		if err != nil {
			return err
		}
		if r.json {
			return r.asJSON(items(work))
		}
		var rows [][]string
		for _, w := range work {
			name := w.Turn.Short()
			if w.Turn == "" {
				name = "-"
			}
			rows = append(rows, []string{name, w.State, age(now, w.Since), w.Actor.Key(), w.Conversation.Key(),
				or(w.Attempt > 0, fmt.Sprint(w.Attempt)), or(w.State == "running", w.Owner), noteOf(w)})
		}
		none := "nothing is open"
		if c.All {
			none += ", and nothing has ended"
		}
		r.table(none, []string{"TURN", "STATE", "FOR", "ACTOR", "CONVERSATION", "ATTEMPT", "OWNER", "NOTE"}, rows)
		return nil
	})
}

func noteOf(w mailbox.Work) string {
	switch {
	case w.Untouched:
		return "nobody touched it for a day: resume or abandon it"
	case w.Old:
		return "nobody touched it for a day: it will not go on by itself"
	case w.Stopping:
		return "being stopped"
	case w.Turn == "":
		return "message " + string(w.Message)
	}
	return ""
}

func (c turnCommand) Run(p *process) error {
	return operate(p, c.JSON, func(r report) error {
		conversation, turn, err := r.box.Find(p.ctx, c.ID)
		if err != nil {
			return err
		}
		switch c.Do {
		case "abandon":
			return r.done(turn, "abandoned; its actor is told", r.box.Abandon(p.ctx, conversation, turn))
		case "resume":
			return r.done(turn, "goes on as soon as a replica has room", r.box.Resume(p.ctx, conversation, turn))
		}
		story, err := r.box.Story(p.ctx, conversation, turn)
		if err != nil {
			return err
		}
		return r.story(story, c.Texts)
	})
}

// done says what was done to a turn, or why not.
func (r report) done(turn chat.TurnID, what string, err error) error {
	switch {
	case errors.Is(err, mailbox.ErrNotOpen):
		return fmt.Errorf("turn %s has ended already", turn.Short())
	case errors.Is(err, mailbox.ErrNotUntouched):
		return fmt.Errorf("turn %s is not one that waits because nobody had touched it", turn.Short())
	case err != nil:
		return err
	case r.json:
		return r.asJSON(map[string]string{"turn": string(turn), "done": what})
	}
	_, err = fmt.Fprintf(r.out, "turn %s: %s\n", turn.Short(), what)
	return err
}

func (c outboxCommand) Run(p *process) error {
	return operate(p, c.JSON, func(r report) error {
		parts, now, err := r.box.Unsent(p.ctx)
		if err != nil {
			return err
		}
		shown := []unsentPart{}
		var rows [][]string
		for _, part := range parts {
			why := "waits for a sender"
			switch {
			case part.Bad != "":
				why = "cannot be posted: " + part.Bad
			case part.Sending:
				why = "a sender has it"
			}
			to := string(part.To.Channel) + "/" + string(part.To.Thread)
			if part.To.DM != "" {
				to = "DM of " + string(part.To.DM)
			}
			shown = append(shown, unsentPart{part.ID, part.Turn, part.Conversation.Key(), to, part.Since, len(part.Markdown), why})
			rows = append(rows, []string{part.ID, to, age(now, part.Since), fmt.Sprint(len(part.Markdown)), why})
		}
		if r.json {
			return r.asJSON(shown)
		}
		r.table("everything is posted", []string{"PART", "TO", "FOR", "BYTES", "WHY"}, rows)
		return nil
	})
}

// unsentPart is a part of the outbox as JSON, without its text.
type unsentPart struct {
	ID           string      `json:"id"`
	Turn         chat.TurnID `json:"turn"`
	Conversation string      `json:"conversation"`
	To           string      `json:"to"`
	Since        time.Time   `json:"since"`
	Bytes        int         `json:"bytes"`
	Why          string      `json:"why"`
}

func (c deadCommand) Run(p *process) error {
	if (c.Do == "show") != (c.ID != "") {
		return usageError("want reeve dead, or reeve dead show ID")
	}
	return operate(p, c.JSON, func(r report) error {
		dead, err := r.box.Dead(p.ctx)
		if err != nil {
			return err
		}
		if c.Do == "show" {
			for _, d := range dead {
				if d.ID == c.ID && r.json {
					return r.asJSON(d)
				}
				if d.ID == c.ID {
					_, err := fmt.Fprintf(r.out, "%s, set aside %s from %s: %s\n\n%s\n", d.ID, d.At.Format(time.RFC3339), d.Where, d.Why, printable(d.Record))
					return err
				}
			}
			return fmt.Errorf("no record that was set aside is named %s", c.ID)
		}
		var rows [][]string
		for i, d := range dead {
			rows = append(rows, []string{d.ID, d.At.Format(time.RFC3339), d.Conversation.Key(), d.Turn.Short(), d.Where, d.Why})
			dead[i].Record = ""
		}
		if r.json {
			return r.asJSON(items(dead))
		}
		r.table("nothing was set aside", []string{"ID", "SINCE", "CONVERSATION", "TURN", "WHERE", "WHY"}, rows)
		return nil
	})
}

// printable is what others wrote, for a terminal, which their text must not
// command.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, text)
}

// items is a list that is [] and not null when it is empty.
func items[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func or(shown bool, text string) string {
	if shown {
		return text
	}
	return ""
}

func age(now, since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return max(0, now.Sub(since)).Round(time.Second).String()
}
