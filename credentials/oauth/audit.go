package oauth

import (
	"context"
	"fmt"
	"strconv"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// Via is by what somebody's account was disconnected.
type Via string

const (
	ViaHome     Via = "home"     // his home tab
	ViaCard     Via = "card"     // the button below the message that told of it
	ViaOperator Via = "operator" // reeve person ... disconnect
)

// The rules of records about connections: what an account was proved by, or why it
// was not connected, or is to be connected again.
const (
	ruleCode       = "browser_code" // entered in Slack
	ruleAddress    = "address"      // the device flow: verified, and that of the Slack profile
	ruleAnyAddress = "any_address"  // the device flow, where the operator allows any
	ruleWrongCode  = "wrong_code"
	ruleSuperseded = "superseded"
	ruleProvider   = "provider"     // it takes the tokens no more
	ruleRenewal    = "renewal_lost" // nobody knows whether the refresh token is spent
)

// audit keeps one record. What a connection is for, and the account's name, are in
// none.
func (s *Service) audit(ctx context.Context, owner credentials.Owner, key string, kind plugins.AuditKind, rule string, change func(*plugins.AuditRecord)) error {
	if s.o.Audit == nil {
		return nil
	}
	r := plugins.AuditRecord{
		Key: key, Kind: kind, Time: s.o.Now().UTC(), Principal: owner.Actor, Provider: owner.Provider, Decision: plugins.AuditAllowed, Rule: rule,
	}
	change(&r)
	return s.o.Audit(ctx, r)
}

// recordConnected keeps a record of a connection before it is made: one of which no
// record can be kept is not made.
func (s *Service) recordConnected(ctx context.Context, f flow) error {
	return s.audit(ctx, f.owner(), "connect/"+f.id(), plugins.AuditConnect, f.Proof, func(r *plugins.AuditRecord) {
		r.Turn, r.Conversation, r.Actor, r.By = f.Turn, f.Conversation, f.actor(), f.actor()
	})
}

// recordNotConnected keeps a record of one that is not made, and why.
func (s *Service) recordNotConnected(ctx context.Context, f flow, rule string) error {
	key := fmt.Sprintf("connect/%s/%d/%s", f.id(), f.Openings, rule)
	return s.audit(ctx, f.owner(), key, plugins.AuditConnect, rule, func(r *plugins.AuditRecord) {
		r.Turn, r.Conversation, r.Actor, r.Decision = f.Turn, f.Conversation, f.actor(), plugins.AuditRefused
	})
}

// recordDisconnected keeps a record of a state of an account that is over. That it
// cannot be kept is no reason to keep the account.
func (s *Service) recordDisconnected(ctx context.Context, owner credentials.Owner, revision int64, rule string, by chat.Actor) {
	key := "disconnect/" + owner.Key() + "/" + strconv.FormatInt(revision, 10) + "/" + rule
	err := s.audit(ctx, owner, key, plugins.AuditDisconnect, rule, func(r *plugins.AuditRecord) { r.Actor, r.By = by, by })
	if err != nil {
		s.o.Log.Error("audit record not kept", "kind", plugins.AuditDisconnect, "principal", owner.Actor.Key(), "provider", owner.Provider, "rule", rule, "err", err)
	}
}
