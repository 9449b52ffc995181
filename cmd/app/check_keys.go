package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/runtime/mailbox"
)

// checkKeys says whether the keys are those of what is sealed in Redis.
func checkKeys(ctx context.Context, s Settings, ask func(context.Context, Settings) (uses []credentials.KeyUse, err error)) []finding {
	const test = "CREDENTIAL_KEYS"
	if ask == nil {
		return nil
	}
	var uses []credentials.KeyUse
	if s.RedisURL != "" {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		var err error
		uses, err = ask(ctx, s)
		var keys *credentials.KeyError
		switch {
		case errors.As(err, &keys):
			var found []finding
			for _, problem := range keys.Problems {
				found = append(found, finding{test, wrong, problem.What, problem.Fix})
			}
			return found
		case err != nil && s.CredentialKeys.IsSet():
			return []finding{{test, unreachable, "what they are to open cannot be looked at: " + err.Error(), "see the line about Redis"}}
		}
	}
	accounts, lost, lacking := 0, 0, []string{}
	for _, u := range uses {
		accounts += u.Accounts
		if !u.Known && u.Accounts > 0 {
			lost += u.Accounts
			lacking = append(lacking, shownVersion(u.Version))
		}
	}
	if lost > 0 {
		return []finding{{test, warned, fmt.Sprintf("%d of %d accounts are sealed with keys that are not there: version %s", lost, accounts, strings.Join(lacking, ", ")),
			"put those keys behind the first one, or have their owners connect them anew"}}
	}
	ring := keyring(s)
	if ring == nil {
		return []finding{{test: test, detail: "not set: nobody can connect an account"}}
	}
	detail := "version " + ring.Versions()[0].Version + " seals"
	if s.RedisURL != "" {
		detail += fmt.Sprintf("; %d accounts are connected, and there is a key for each", accounts)
	}
	return []finding{{test: test, detail: detail}}
}

// probeKeys compares the keys with what is sealed, and changes nothing.
func probeKeys(ctx context.Context, s Settings) ([]credentials.KeyUse, error) {
	box, err := mailbox.Open(storeOptions(s))
	if err != nil {
		return nil, err
	}
	defer box.Shutdown()
	vault := vaultOf(box, s)
	if vault.Keyring() != nil {
		if err := vault.Verify(ctx); err != nil {
			return nil, err
		}
	}
	return vault.KeyUses(ctx)
}
