package app

import (
	"fmt"
	"slices"

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
