package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Audit is the log of what was done with people's rights. It is only ever added
// to; records go when they are older than it keeps them.
type Audit struct {
	store
	keep time.Duration
}

// NewAudit keeps records under the prefix for a time. header: see NewVault.
func NewAudit(client redis.UniversalClient, prefix string, header bool, keep time.Duration) *Audit {
	return &Audit{store{client, prefix, newScripts(header)}, keep}
}

func (s store) audit() string { return s.shard(0) + "audit" }

// audited stands for the key of a record that is kept. Keys hold ids that a model
// has made up: it is their hash.
func (s store) audited(key string) string {
	sum := sha256.Sum256([]byte(key))
	return s.shard(0) + "audited:" + hex.EncodeToString(sum[:16])
}

// auditedLife is how long a record's key is known: longer than any turn lasts.
const auditedLife = 14 * 24 * time.Hour

// Append keeps a record, once for each key. An error means that it may not be kept,
// and that what it is about must not happen.
func (a *Audit) Append(ctx context.Context, r plugins.AuditRecord) error {
	if r.Key == "" || r.Time.IsZero() {
		return errors.New("append audit record: it has no key or no time")
	}
	record, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("append audit record: %w", err)
	}
	_, err = a.run(ctx, a.auditAppend, []string{a.audit(), a.audited(r.Key)}, record, auditedLife.Milliseconds(), a.keep.Milliseconds())
	if err != nil {
		return fmt.Errorf("append audit record: %w", err)
	}
	return nil
}

// Run takes out what is old, at once and then every hour, until ctx ends. Append
// does so too; Run is for a log to which nothing is added.
func (a *Audit) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for {
		_ = a.Trim(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// Trim takes out what is older than the log keeps records.
func (a *Audit) Trim(ctx context.Context) error {
	now, err := a.redis.Time(ctx).Result()
	if err == nil {
		err = a.redis.XTrimMinID(ctx, a.audit(), streamTime(now.Add(-a.keep))).Err()
	}
	if err != nil {
		return fmt.Errorf("trim audit log: %w", err)
	}
	return nil
}

func streamTime(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// AuditFilter says which records are wanted. A zero field wants all.
type AuditFilter struct {
	// Person is in the record as its actor, its principal, or as who answered.
	Person chat.Actor
	// Turn is a turn's id, or the end of one.
	Turn           string
	Tool, Provider string
	Decision       plugins.AuditDecision
	Kind           plugins.AuditKind
	// Since and Until bound the time, Until excluded.
	Since, Until time.Time
}

func fits[T ~string](want, is T) bool { return want == "" || want == is }

func (f AuditFilter) wants(r plugins.AuditRecord) bool {
	return fits(f.Tool, r.Tool) && fits(f.Provider, r.Provider) && fits(f.Decision, r.Decision) && fits(f.Kind, r.Kind) &&
		(f.Turn == "" || strings.HasSuffix(string(r.Turn), f.Turn)) &&
		(f.Person.IsZero() || r.Actor == f.Person || r.Principal == f.Person || r.By == f.Person) &&
		!r.Time.Before(f.Since) && (f.Until.IsZero() || r.Time.Before(f.Until))
}

// slack is how much earlier or later than its own time a record may have been
// written.
const slack = time.Hour

// auditPage is how many records one round trip reads.
const auditPage = 500

// Read calls f with the records that a filter wants, newest first, until it
// answers false.
func (a *Audit) Read(ctx context.Context, filter AuditFilter, f func(plugins.AuditRecord) bool) error {
	from, to := "-", "+"
	if !filter.Since.IsZero() {
		from = streamTime(filter.Since.Add(-slack))
	}
	if !filter.Until.IsZero() {
		to = streamTime(filter.Until.Add(slack))
	}
	for {
		page, err := a.redis.XRevRangeN(ctx, a.audit(), to, from, auditPage).Result()
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		for _, item := range page {
			var r plugins.AuditRecord
			if err := json.Unmarshal([]byte(text(item.Values["r"])), &r); err != nil {
				return fmt.Errorf("read audit record %s: %w", item.ID, err)
			}
			if filter.wants(r) && !f(r) {
				return nil
			}
		}
		if len(page) < auditPage {
			return nil
		}
		to = "(" + page[len(page)-1].ID
	}
}
