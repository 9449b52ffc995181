package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"time"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// keySetting is a key of a version, made from a byte.
func keySetting(version string, seed byte) string {
	return version + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{seed}, 32))
}

// seedAccounts: Erin has two accounts and Bob one, and what they did with them was
// recorded.
func seedAccounts(url, prefix string) error {
	ctx := context.Background()
	box, err := mailbox.Open(mailbox.Options{URL: url, Prefix: prefix})
	if err != nil {
		return err
	}
	defer box.Shutdown()
	ring, err := credentials.ParseKeys(keySetting("1", 'a'))
	if err != nil {
		return err
	}
	vault := credentials.NewVault(box.Redis(), prefix, true, ring)
	if err := vault.Check(ctx); err != nil {
		return err
	}
	erin, bob := chat.Person("T1", "UERIN"), chat.Person("T1", "UBOB")
	for _, o := range []credentials.Owner{{Actor: erin, Provider: "github"}, {Actor: erin, Provider: "google"}, {Actor: bob, Provider: "github"}} {
		record := credentials.Record{
			Access: credentials.NewSecret("the-token"), Refresh: credentials.NewSecret("the-token"), Connected: time.Now(),
			Scopes: []string{"repo"}, AccountID: "17", AccountName: "account-of-" + string(o.Actor.User),
		}
		permit, err := vault.Permit(ctx, o, time.Minute)
		if err == nil {
			_, _, _, err = vault.Put(ctx, o, permit, record)
		}
		if err != nil {
			return err
		}
	}
	if _, err := vault.AddFlow(ctx, "state", credentials.Owner{Actor: erin, Provider: "linear"}, []byte("the-token"), time.Hour); err != nil {
		return err
	}
	log := credentials.NewAudit(box.Redis(), prefix, true, 24*time.Hour)
	for n, r := range []plugins.AuditRecord{
		{Kind: "call", Turn: "t_00000000000000000000erin01", Actor: erin, Tool: "github_search", Principal: erin, Provider: "github", Decision: "allowed", Rule: "read", Arguments: "a1"},
		{Kind: "call", Turn: "t_00000000000000000000bob001", Actor: bob, Tool: "github_comment", Principal: bob, Provider: "github", Decision: "refused", Rule: "conflict", Arguments: "b2"},
		{Kind: "consent", Turn: "t_00000000000000000000bob001", Actor: bob, Tool: "github_comment", Principal: bob, Provider: "github", Decision: "allowed", Rule: "answered", Arguments: "b2", By: bob},
	} {
		r.Key, r.Time = string(rune('a'+n)), time.Now().UTC().Add(time.Duration(n-30)*time.Minute)
		if err := log.Append(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
