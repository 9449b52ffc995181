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

// record is a call while it is decided.
type record struct {
	run      plugins.Run
	kind     plugins.AuditKind
	call     string
	tool     string // only a name that there is
	provider string
	sends    bool
	decision plugins.AuditDecision
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
		slog.String("decision", string(r.decision)), slog.String("rule", r.rule),
		slog.String("arguments", callHash(r.tool, r.arguments)), slog.Bool("failed", r.failed), slog.String("took", time.Since(r.start).Round(time.Millisecond).String()))
}

// keep keeps the record of a credentialed call for good, and of one that would have
// sent something and was refused.
func (g *Gate) keep(ctx context.Context, r record) error {
	if g.options.Audit == nil || r.provider == "" && (r.decision != plugins.AuditRefused || !r.sends) {
		return nil
	}
	kept := plugins.AuditRecord{
		Key: plugins.CallKey(r.run.Turn, r.call) + "/" + string(r.decision), Kind: r.kind, Turn: r.run.Turn, Conversation: r.run.Conversation, Actor: r.run.Actor,
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
		r := plugins.AuditRecord{
			Key: plugins.CallKey(run.Turn, c.Call) + "/" + d.Wait, Kind: plugins.AuditConsent, Turn: run.Turn, Conversation: run.Conversation, Actor: run.Actor,
			Tool: c.Tool, Provider: c.Provider, Decision: plugins.AuditRefused, Rule: string(d.How), Arguments: c.Hash,
		}
		if c.Allowed {
			r.Decision = plugins.AuditAllowed
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

func (g *Gate) audit(ctx context.Context, r plugins.AuditRecord) (err error) {
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
