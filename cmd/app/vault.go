package app

import (
	"time"

	"reeve/credentials"
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
