package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/memory"
	"reeve/plugins"
	"reeve/runtime/mailbox"
)

// personCount is how many things of a kind there are.
type personCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	What  string `json:"what"`
}

func (a personal) counts() []personCount {
	var list []personCount
	for _, c := range a.Counts() {
		list = append(list, personCount{string(c.Kind), c.Count, heldWords[c.Kind]})
	}
	if len(a.memories) > 0 {
		list = append(list, personCount{heldMemory, len(a.memories), "memories of this person"})
	}
	n := 0
	for _, memories := range a.cited {
		n += len(memories)
	}
	if n > 0 {
		list = append(list, personCount{heldCited, n, "memories of channels that rest on this person's words"})
	}
	if len(a.accounts) > 0 {
		list = append(list, personCount{heldAccount, len(a.accounts), "connected accounts; their providers do not learn of it: the person ends Reeve's access there"})
	}
	if a.flows > 0 {
		list = append(list, personCount{heldFlow, a.flows, "records of accounts that are being connected"})
	}
	return list
}

// export prints all of it as JSON, by kind.
func (e eraser) export(all personal) error {
	held := map[mailbox.HeldKind][]mailbox.Held{}
	for _, h := range all.Held {
		held[h.Kind] = append(held[h.Kind], h)
	}
	cited := map[string][]memory.Memory{}
	for o, memories := range all.cited {
		cited[o.Key()] = memories
	}
	return e.asJSON(struct {
		Person   string                              `json:"person"`
		At       time.Time                           `json:"at"`
		Held     map[mailbox.HeldKind][]mailbox.Held `json:"held"`
		Memories []memory.Memory                     `json:"memories"`
		Cited    map[string][]memory.Memory          `json:"channel_memories"`
		Accounts []shownAccount                      `json:"accounts"`
		Audit    []plugins.AuditRecord               `json:"audit"`
		Left     []string                            `json:"not_looked_into"`
		Note     string                              `json:"note"`
	}{e.who.Key(), time.Now().UTC(), held, items(all.memories), cited, shownAccounts(all.accounts), items(all.audit), items(all.Left), elsewhere})
}

// shownAccount is an account without its secrets.
type shownAccount struct {
	Provider string `json:"provider"`
	credentials.Shown
}

func shownAccounts(all []credentials.Account) []shownAccount {
	shown := []shownAccount{}
	for _, a := range all {
		shown = append(shown, shownAccount{a.Provider, a.Shown})
	}
	return shown
}

// told prints what was, or would be, done.
func (e eraser) told(what string, counts []personCount, all personal) error {
	h := all.Holding
	if n := len(all.audit); n > 0 {
		h.Left = append(slices.Clone(h.Left), fmt.Sprintf("%d records of the audit log name this person; they hold no words, and stay for their %d days (AUDIT_DAYS): "+
			"whose rights were spent, and by whose decision, must be known also of who has left", n, e.settings.AuditDays))
	}
	if e.json {
		return e.asJSON(struct {
			Person string         `json:"person"`
			Done   string         `json:"done"`
			Counts []personCount  `json:"counts"`
			Open   []mailbox.Work `json:"open"`
			Left   []string       `json:"left"`
			Note   string         `json:"note"`
		}{e.who.Key(), what, items(counts), items(h.Open), items(h.Left), elsewhere})
	}
	_, _ = fmt.Fprintf(e.out, "%s of %s:\n\n", what, e.who.Key())
	var rows [][]string
	for _, c := range counts {
		rows = append(rows, []string{c.Kind, fmt.Sprint(c.Count), c.What})
	}
	e.table("nothing", []string{"KIND", "COUNT", "WHAT"}, rows)
	for _, w := range h.Open {
		_, _ = fmt.Fprintf(e.out, "\nturn %s is open (%s) and stands in the way: let it end, stop it, or end it with --abandon\n", w.Turn.Short(), w.State)
	}
	for _, line := range h.Left {
		_, _ = fmt.Fprintf(e.out, "\nleft: %s\n", printable(line))
	}
	if strings.HasPrefix(what, "would") {
		_, _ = fmt.Fprintf(e.out, "\nNothing was taken out: add --yes for that.\n")
	}
	_, err := fmt.Fprintf(e.out, "\n%s\n", elsewhere)
	return err
}
