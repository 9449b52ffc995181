package app

import (
	"context"
	"time"

	"reeve/credentials"
	"reeve/plugins/gate"
	"reeve/runtime/mailbox"
)

// keyring are the keys of CREDENTIAL_KEYS; nil: none are set.
func keyring(s Settings) *credentials.Keyring {
	if !s.CredentialKeys.IsSet() {
		return nil
	}
	ring, err := credentials.ParseKeys(s.CredentialKeys.Reveal())
	if err != nil {
		panic(err) // they were parsed with the settings
	}
	return ring
}

// vaultOf is where people's accounts are, beside the mailbox on the same Redis.
// Without keys nothing can be sealed or opened in it.
func vaultOf(box *mailbox.Box, s Settings) *credentials.Vault {
	return credentials.NewVault(box.Redis(), s.RedisPrefix, s.RedisURL != "", keyring(s))
}

// auditOf is the log of what was done with people's rights, likewise.
func auditOf(box *mailbox.Box, s Settings) *credentials.Audit {
	return credentials.NewAudit(box.Redis(), s.RedisPrefix, s.RedisURL != "", time.Duration(s.AuditDays)*24*time.Hour)
}

// auditTo hands the gate's records to the log.
func auditTo(log *credentials.Audit) func(context.Context, gate.AuditRecord) error {
	return func(ctx context.Context, r gate.AuditRecord) error {
		return log.Append(ctx, credentials.AuditRecord{
			Key: r.Key, Kind: string(r.Kind), Time: r.Time, Turn: r.Turn, Conversation: r.Conversation, Actor: r.Actor, Tool: r.Tool,
			Principal: r.Principal, Provider: r.Provider, Decision: r.Decision, Rule: r.Rule, Arguments: r.Arguments, By: r.By,
		})
	}
}
