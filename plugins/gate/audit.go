package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// AuditRecord is what is kept of one credentialed call, or of one answer to a
// question: who, what, for whom, and what was decided by which rule. It holds
// nothing of what the call was about.
type AuditRecord struct {
	// Key names the record for good: the same one again is no second record.
	Key          string
	Kind         AuditKind
	Time         time.Time
	Turn         chat.TurnID
	Conversation chat.Conversation
	Actor        chat.Actor
	Tool         string
	// Principal is whose rights the call spends; zero: nobody's.
	Principal chat.Actor
	Provider  string
	Decision  string // Allowed, Refused or Unknown
	// Rule is whose decision it was: a step of the gate's, a row of the table, or
	// a check's name; of an answer, how the question ended.
	Rule string
	// Arguments is the hash of the call's tool and arguments.
	Arguments string
	// By is who answered, of an answer.
	By chat.Actor
}

// AuditKind says what a record is of.
type AuditKind string

const (
	AuditCall    AuditKind = "call"    // one call, made or refused
	AuditConsent AuditKind = "consent" // one answer about one call
)

// A call that is let through has a record before it is made, Allowed. What becomes
// of it is its result, and of no interest here, but where the call was not made
// after all, or nobody knows whether it was: then a second record says so.
const (
	Allowed = "allowed"
	Refused = "refused"
	Unknown = "unknown"
)

// record is a call while it is decided.
type record struct {
	run      plugins.Run
	kind     AuditKind
	call     string
	tool     string // only a name that there is
	provider string
	sends    bool
	decision string
	rule     string
	// arguments are those that were checked, or, where none were, as written.
	arguments []byte
	failed    bool
	start     time.Time
}

// The rules that are steps of the gate's own; those of the table are Rules.
const (
	ruleNotOffered = "not_offered"
	ruleArguments  = "arguments"
	ruleRunOver    = "run_over"
	ruleBudget     = "budget"
	ruleHost       = "host"
	ruleAccount    = "account"
	ruleAudit      = "audit"
	ruleFault      = "fault"
	ruleOutOfOrder = "out_of_order" // too many calls of the tool have not come back
	ruleLate       = "late"         // it did not answer in its time
	ruleNoAnswer   = "no_answer"    // it says itself that nobody knows
)

// callHash names a call's tool and arguments without telling them, so that two
// records, or a record and a question to a person, can be seen to speak of the
// same call.
func callHash(tool string, arguments []byte) string {
	sum := sha256.Sum256(append([]byte(tool+"\n"), arguments...))
	return hex.EncodeToString(sum[:16])
}

// log writes a line for every call.
func (g *Gate) log(ctx context.Context, r record) {
	principal := ""
	if r.provider != "" {
		principal = r.run.Actor.Key()
	}
	g.options.Logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "tool call",
		slog.String("turn", string(r.run.Turn)), slog.String("conversation", r.run.Conversation.Key()),
		slog.String("actor", r.run.Actor.Key()), slog.String("tool", r.tool),
		slog.String("principal", principal), slog.String("provider", r.provider),
		slog.String("decision", r.decision), slog.String("rule", r.rule),
		slog.String("arguments", callHash(r.tool, r.arguments)), slog.Bool("failed", r.failed), slog.String("took", time.Since(r.start).Round(time.Millisecond).String()))
}

// keep keeps the record of a credentialed call for good, and of one that would have
// sent something and was refused.
func (g *Gate) keep(ctx context.Context, r record) error {
	if g.options.Audit == nil || r.provider == "" && (r.decision != Refused || !r.sends) {
		return nil
	}
	kept := AuditRecord{
		Key: plugins.CallKey(r.run.Turn, r.call) + "/" + r.decision, Kind: r.kind, Turn: r.run.Turn, Conversation: r.run.Conversation, Actor: r.run.Actor,
		Tool: r.tool, Provider: r.provider, Decision: r.decision, Rule: r.rule, Arguments: callHash(r.tool, r.arguments),
	}
	if r.provider != "" {
		kept.Principal = r.run.Actor
	}
	return g.audit(ctx, kept)
}

// Decided keeps a record of each call of a decision. An error means that it is
// not kept.
func (g *Gate) Decided(ctx context.Context, run plugins.Run, d chat.Decision) error {
	if g.options.Audit == nil || d.Wait == "" {
		return nil
	}
	for _, c := range d.Calls {
		r := AuditRecord{
			Key: plugins.CallKey(run.Turn, c.Call) + "/" + d.Wait, Kind: AuditConsent, Turn: run.Turn, Conversation: run.Conversation, Actor: run.Actor,
			Tool: c.Tool, Provider: c.Provider, Decision: Refused, Rule: string(d.How), Arguments: c.Hash,
		}
		if c.Allowed {
			r.Decision = Allowed
		}
		if c.Provider != "" {
			r.Principal = run.Actor
		}
		if d.By != nil {
			r.By = *d.By
		}
		if err := g.audit(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) audit(ctx context.Context, r AuditRecord) (err error) {
	r.Time = time.Now().UTC()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it panicked with a %T", fault)
		}
		if err != nil {
			g.options.Logger.Error("audit record not kept", "turn", r.Turn, "tool", r.Tool, "decision", r.Decision, "rule", r.Rule, "err", err)
		}
	}()
	return g.options.Audit(ctx, r)
}
