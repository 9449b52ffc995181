package app

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/runtime/chat"
)

type auditCommand struct {
	Actor    string `help:"Records of a person (T1:U123), as whose turn, whose rights or whose answer it was, or of a system actor (system:NAME)."`
	Turn     string `help:"Records of a turn, by its id or its end."`
	Tool     string `help:"Records of a tool's calls."`
	Provider string `help:"Records of a provider's credentials."`
	Kind     string `help:"Records of a kind: call, consent, connect or disconnect."`
	Decision string `help:"Records with a decision: allowed, refused, or unknown (whether it took effect)."`
	Since    string `help:"Records from a time on: 2026-01-31, 2026-01-31T15:04:05Z, or how long ago, as 90m, 24h or 7d."`
	Until    string `help:"Records before a time, written likewise."`
	Limit    int    `default:"100" help:"How many to print, at most; the newest. 0: all."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// What a record can be of, and what can have been decided: another word would find
// nothing, as if nothing had happened.
var (
	auditKinds     = []plugins.AuditKind{plugins.AuditCall, plugins.AuditConsent, plugins.AuditConnect, plugins.AuditDisconnect}
	auditDecisions = []plugins.AuditDecision{plugins.AuditAllowed, plugins.AuditRefused, plugins.AuditUnknown}
)

var (
	systemName = regexp.MustCompile(`^system:[A-Za-z0-9_-]+$`)
	days       = regexp.MustCompile(`^(\d{1,5})d$`)
)

// moment reads a time, or how long ago it was.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if m := days.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return now.AddDate(0, 0, -n), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usageError(fmt.Sprintf("--%s is %s: want a day (2026-01-31), a time (2026-01-31T15:04:05Z), or how long ago it was (90m, 24h, 7d)", flag, printable(text)))
}

// oneOf refuses a word that is none of those that there are.
func oneOf[Word ~string](flag string, word Word, all []Word) error {
	if word == "" || slices.Contains(all, word) {
		return nil
	}
	var known []string
	for _, w := range all {
		known = append(known, string(w))
	}
	return usageError(fmt.Sprintf("--%s is %s: want one of %s", flag, printable(string(word)), strings.Join(known, ", ")))
}

func (c auditCommand) filter(now time.Time) (f credentials.AuditFilter, err error) {
	f = credentials.AuditFilter{Turn: c.Turn, Tool: c.Tool, Provider: c.Provider, Kind: plugins.AuditKind(c.Kind), Decision: plugins.AuditDecision(c.Decision)}
	if c.Actor != "" {
		if !personID.MatchString(c.Actor) && !systemName.MatchString(c.Actor) {
			return f, usageError(fmt.Sprintf("--actor is %s: want a person's team and user id, as T1:U123, or system:NAME", printable(c.Actor)))
		}
		f.Person, _ = chat.ParseActor(c.Actor)
	}
	if err := oneOf("kind", f.Kind, auditKinds); err != nil {
		return f, err
	}
	if err := oneOf("decision", f.Decision, auditDecisions); err != nil {
		return f, err
	}
	if c.Limit < 0 {
		return f, usageError("--limit is below 0")
	}
	if f.Since, err = moment("since", c.Since, now); err == nil {
		f.Until, err = moment("until", c.Until, now)
	}
	return f, err
}

func (c auditCommand) Run(p *process) error {
	filter, err := c.filter(time.Now().UTC())
	if err != nil {
		return err
	}
	return operate(p, c.JSON, func(r report) error {
		var all []plugins.AuditRecord
		cut := false
		err := auditOf(r.box, r.settings).Read(p.ctx, filter, func(record plugins.AuditRecord) bool {
			cut = c.Limit > 0 && len(all) == c.Limit
			if !cut {
				all = append(all, record)
			}
			return !cut
		})
		if err != nil {
			return err
		}
		slices.Reverse(all)
		return r.audit(all, cut, filter == credentials.AuditFilter{})
	})
}

// audit prints records, oldest first.
func (r report) audit(all []plugins.AuditRecord, cut, whole bool) error {
	if r.json {
		return r.asJSON(items(all))
	}
	var rows [][]string
	for _, a := range all {
		by := ""
		if !a.By.IsZero() {
			by = a.By.Key()
		}
		rows = append(rows, []string{at(a.Time), string(a.Kind), a.Turn.Short(), a.Actor.Key(), a.Tool, a.Provider, a.Principal.Key(), string(a.Decision), a.Rule, by, a.Arguments})
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = strings.Join(strings.Fields(printable(cell)), " ")
		}
	}
	none := "no record fits"
	if whole {
		none = "nothing was recorded yet: no call has spent anybody's rights, and nobody was asked"
	}
	r.table(none, []string{"TIME", "KIND", "TURN", "ACTOR", "TOOL", "PROVIDER", "PRINCIPAL", "DECISION", "RULE", "BY", "ARGUMENTS"}, rows)
	if cut {
		_, _ = fmt.Fprintf(r.out, "\nthese are the newest %d: --limit 0 prints all\n", len(all))
	}
	return nil
}
