package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/memory"
	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

type personCommand struct {
	ID       string `arg:"" help:"The person's team and user id, as T1:U123."`
	Do       string `arg:"" enum:"export,erase,accounts,disconnect" help:"export (prints JSON, with texts), erase (takes out for good; see --yes), accounts (those that are connected), or disconnect (one of them)."`
	Provider string `arg:"" optional:"" help:"Of the account to disconnect."`
	Yes      bool   `help:"Erase. Without it erase says what it would take out."`
	Abandon  bool   `help:"End the person's open turns first. Without it they stand in the way."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// elsewhere is what no command of ours reaches.
const elsewhere = "What is not in this Redis is not reached: messages and answers stand in Slack until they are deleted there; " +
	"the model's and the tools' servers have what was sent to them; logs and backups keep what they hold, and so does Redis's own " +
	"append-only file until it is rewritten (BGREWRITEAOF)."

// heldWords say what the kinds are.
var heldWords = map[mailbox.HeldKind]string{
	mailbox.HeldMessage: "messages that wait, or whose text is still known",
	mailbox.HeldThread:  "messages of threads that no turn has read yet",
	mailbox.HeldLog:     "messages in the logs of turns, of anybody's",
	mailbox.HeldQuote:   "messages of others with words that Slack says are this person's",
	mailbox.HeldTurn:    "own turns with what was kept beside their logs",
	mailbox.HeldEntry:   "calls, results and answers of own turns",
	mailbox.HeldSummary: "summaries of own turns, or of turns with own messages, made for others",
	mailbox.HeldResult:  "results in turns of others that name this person",
	mailbox.HeldName:    "display names kept with turns of others",
	mailbox.HeldPart:    "parts of answers that are not posted yet, and then will not be",
	mailbox.HeldTask:    "plugins' tasks after own turns",
	mailbox.HeldAside:   "records that were set aside",
	mailbox.HeldFact:    "facts of the account",
	mailbox.HeldTokens:  "counts of tokens of a day",
	mailbox.HeldNotice:  "notices that were given once",
	mailbox.HeldStore:   "plugins' stores",
}

const (
	heldMemory  = "memory"
	heldCited   = "channel memory"
	heldAccount = "account"
	heldFlow    = "connection"
)

// personal is all that is kept of a person.
type personal struct {
	mailbox.Holding
	memories []memory.Memory
	cited    map[memory.Owner][]memory.Memory
	accounts []credentials.Account
	flows    int
	audit    []plugins.AuditRecord
}

// eraser finds, exports and erases what is kept of one person.
type eraser struct {
	report
	who   chat.Actor
	owner memory.Owner
	store *memory.Store
	vault *credentials.Vault
	log   *credentials.Audit
}

func (c personCommand) Run(p *process) error {
	if !personID.MatchString(c.ID) {
		return usageError(fmt.Sprintf("%s is no person: want his team and user id, as T1:U123 (both, since a user of another team may have written too); reeve turns and reeve memories show them", printable(c.ID)))
	}
	who, _ := chat.ParseActor(c.ID)
	if c.Provider != "" && c.Do != "disconnect" {
		return usageError("only disconnect takes a provider")
	}
	return operate(p, c.JSON, func(r report) error {
		switch c.Do {
		case "accounts":
			return r.accountsOf(who)
		case "disconnect":
			return r.disconnect(who, c.Provider)
		}
		e := eraser{report: r, who: who, store: memoryStore(r.box, r.settings), vault: vaultOf(r.box, r.settings), log: auditOf(r.box, r.settings)}
		e.owner, _ = memory.Personal(who)
		all, err := e.find()
		switch {
		case err != nil:
			return err
		case c.Do == "export":
			return e.export(all)
		case !c.Yes:
			return e.told("would take out", all.counts(), all)
		}
		return e.erase(all, c.Abandon)
	})
}

func (e eraser) find() (personal, error) {
	all := personal{}
	var err error
	if all.Holding, err = e.box.Person(e.p.ctx, e.who, isBeside); err != nil {
		return all, err
	}
	if all.memories, err = e.store.All(e.p.ctx, e.owner); err != nil {
		return all, err
	}
	if all.cited, err = e.store.Cited(e.p.ctx, e.who); err != nil {
		return all, err
	}
	if all.accounts, err = e.vault.List(e.p.ctx, e.who); err != nil {
		return all, err
	}
	if all.flows, err = e.vault.Flows(e.p.ctx, e.who); err != nil {
		return all, err
	}
	err = e.log.Read(e.p.ctx, credentials.AuditFilter{Person: e.who}, func(r plugins.AuditRecord) bool {
		all.audit = append(all.audit, r)
		return true
	})
	slices.Reverse(all.audit)
	return all, err
}

// isBeside reports whether a key is one of a store's that stands beside the mailbox.
func isBeside(name string) bool { return memory.IsKey(name) || credentials.IsKey(name) }

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

// passes is how often it is looked again for what came in meanwhile.
const passes = 4

// erase takes it out, and looks again until nothing is found.
func (e eraser) erase(all personal, abandon bool) error {
	ran := all.Working()
	if len(all.Open) > 0 {
		if !abandon {
			return e.inTheWay(all.Open)
		}
		for _, w := range all.Open {
			ran = ran || w.State == "running"
			if err := e.box.Abandon(e.p.ctx, w.Conversation, w.Turn); err != nil && !errors.Is(err, mailbox.ErrNotOpen) {
				return err
			}
		}
		var err error
		if all, err = e.find(); err != nil {
			return err
		}
	}
	totals := map[string]personCount{}
	var order []string
	for range passes {
		counts := all.counts()
		if len(counts) == 0 {
			break
		}
		for _, c := range counts {
			if _, known := totals[c.Kind]; !known {
				order = append(order, c.Kind)
			}
			c.Count += totals[c.Kind].Count
			totals[c.Kind] = c
		}
		if err := e.takeOut(all, ran); err != nil {
			return err
		}
		var err error
		if all, err = e.find(); err != nil {
			return err
		}
		ran = all.Working()
	}
	var done []personCount
	for _, kind := range order {
		done = append(done, totals[kind])
	}
	if err := e.told("took out", done, all); err != nil {
		return err
	}
	if len(all.counts()) > 0 {
		return fmt.Errorf("something of %s still comes in: run this again", e.who.Key())
	}
	return nil
}

// takeOut is one pass. Conversations come first: what stands in them can become
// a memory, and no memory can become a message. A worker whose work was taken
// from it learns so within one lease, and until then it may still write for it.
func (e eraser) takeOut(all personal, ran bool) error {
	if err := e.box.EraseConversations(e.p.ctx, e.who, all.Holding); err != nil {
		return err
	}
	if ran {
		if !e.json {
			_, _ = fmt.Fprintf(e.out, "waiting %s for workers to learn that their work was taken from them\n", e.box.LeaseTTL())
		}
		if err := lapse(e.p.ctx, e.box.LeaseTTL()); err != nil {
			return err
		}
	}
	if err := e.box.ErasePlain(e.p.ctx, all.Holding); err != nil {
		return err
	}
	if err := e.store.Erase(e.p.ctx, e.owner); err != nil {
		return err
	}
	if err := e.vault.EndFlows(e.p.ctx, e.who); err != nil {
		return err
	}
	for _, a := range all.accounts {
		if err := e.disconnect(a.Owner); err != nil {
			return err
		}
	}
	for _, o := range slices.SortedFunc(maps.Keys(all.cited), func(a, b memory.Owner) int { return strings.Compare(a.Key(), b.Key()) }) {
		if _, err := e.store.EraseCited(e.p.ctx, o, time.Now(), e.who); err != nil {
			return err
		}
	}
	return nil
}

// disconnect takes an account out, and keeps a record that it was.
func (e eraser) disconnect(o credentials.Owner) error {
	gone, err := e.vault.Delete(e.p.ctx, o)
	if errors.Is(err, credentials.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.log.Append(e.p.ctx, plugins.AuditRecord{
		Key: fmt.Sprintf("disconnect/%s/%d/erased", o.Key(), gone.Revision), Kind: plugins.AuditDisconnect, Time: time.Now().UTC(),
		Principal: o.Actor, Provider: o.Provider, Decision: plugins.AuditAllowed, Rule: "erased",
	})
}

func lapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// inTheWay refuses to erase beside open turns.
func (e eraser) inTheWay(open []mailbox.Work) error {
	var names []string
	for _, w := range open {
		names = append(names, w.Turn.Short()+" ("+w.State+")")
	}
	return fmt.Errorf("%s has open turns, and nothing was taken out: %s. Let them end, have them stopped in their thread, end each with reeve turn ID abandon, or all with --abandon",
		e.who.Key(), strings.Join(names, ", "))
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
