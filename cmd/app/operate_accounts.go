package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/runtime/chat"
)

// accountsOf prints the accounts that a person has connected.
func (r report) accountsOf(who chat.Actor) error {
	all, err := vaultOf(r.box, r.settings).List(r.p.ctx, who)
	if err != nil {
		return err
	}
	if r.json {
		return r.asJSON(struct {
			Person   string         `json:"person"`
			Accounts []shownAccount `json:"accounts"`
		}{who.Key(), shownAccounts(all)})
	}
	var rows [][]string
	for _, a := range all {
		state := "connected"
		if a.Refused || a.Broken {
			state = "has to be connected again"
		}
		rows = append(rows, []string{a.Provider, printable(a.AccountName), state, since(a.Connected), printable(strings.Join(a.Scopes, " "))})
	}
	r.table("no account is connected", []string{"PROVIDER", "ACCOUNT", "STATE", "SINCE", "SCOPES"}, rows)
	return nil
}

func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateOnly)
}

// disconnect takes one of a person's accounts out, and gives its tokens back where
// the provider is configured and can take them. Without keys they cannot be read.
func (r report) disconnect(who chat.Actor, provider string) error {
	if provider == "" {
		return usageError("which account? Name its provider, as in: reeve person " + who.Key() + " disconnect github")
	}
	providers, wrong := oauth.Load(r.settings.OAuthProviders, r.p.options.Environ)
	service, err := oauth.New(oauth.Options{
		Vault: vaultOf(r.box, r.settings), Providers: providers, PublicURL: r.settings.PublicURL, Outbound: r.p.options.Outbound,
		Audit: auditOf(r.box, r.settings).Append,
	})
	if err = errors.Join(wrong, err); err != nil {
		return &ConfigError{strings.Split(err.Error(), "\n")}
	}
	held, err := vaultOf(r.box, r.settings).List(r.p.ctx, who)
	if err != nil {
		return err
	}
	var account *credentials.Account
	for i := range held {
		if held[i].Provider == provider {
			account = &held[i]
		}
	}
	if account == nil {
		return fmt.Errorf("%s has no account at %s; reeve person %s accounts lists them", who.Key(), printable(provider), who.Key())
	}
	sentence, err := service.Disconnect(r.p.ctx, who, provider, oauth.ViaOperator)
	if err != nil {
		return err
	}
	if r.json {
		return r.asJSON(map[string]string{"person": who.Key(), "provider": provider, "outcome": sentence})
	}
	_, err = fmt.Fprintf(r.out, "disconnected %s at %s of %s. What the person would read: %s\n", printable(account.AccountName), provider, who.Key(), printable(sentence))
	return err
}
