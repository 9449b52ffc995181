package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"reeve/plugins"
)

// record is what is kept of one call: who, what, for whom, and what was
// decided by which rule. It holds nothing of what the call was about.
type record struct {
	run      plugins.Run
	tool     string // only a name that there is
	provider string
	// decision is "allowed" or "refused", and rule whose it was: a step of the
	// gate's, a row of the table, or a check's name.
	decision, rule string
	arguments      []byte
	failed         bool
	start          time.Time
}

const (
	allowed = "allowed"
	refused = "refused"
)

// The rules that are steps of the gate's own; those of the table are Rules.
const (
	ruleNotOffered = "not_offered"
	ruleArguments  = "arguments"
	ruleRunOver    = "run_over"
	ruleBudget     = "budget"
	ruleHost       = "host"
	ruleFault      = "fault"
)

// hash names arguments without telling them: so that two records, or a record
// and a question to a person, can be seen to speak of the same call.
func hash(arguments []byte) string {
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:8])
}

func (g *Gate) audit(ctx context.Context, r record) {
	principal := ""
	if r.provider != "" {
		principal = r.run.Actor.Key()
	}
	g.options.Logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "tool call",
		slog.String("turn", string(r.run.Turn)), slog.String("conversation", r.run.Conversation.Key()),
		slog.String("actor", r.run.Actor.Key()), slog.String("tool", r.tool),
		slog.String("principal", principal), slog.String("provider", r.provider),
		slog.String("decision", r.decision), slog.String("rule", r.rule),
		slog.String("arguments", hash(r.arguments)), slog.Bool("failed", r.failed), slog.String("took", time.Since(r.start).Round(time.Millisecond).String()))
}
