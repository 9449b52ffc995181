package oauth

import (
	"context"
	"errors"
	"fmt"

	"reeve/credentials"
	"reeve/runtime/chat"
)

// DisconnectAccount is Disconnect for the account of a name, by its card's button:
// another one that has taken its place stays.
func (s *Service) DisconnectAccount(ctx context.Context, by chat.Actor, provider, account string) (sentence string, err error) {
	record, err := s.o.Vault.Get(ctx, credentials.Owner{Actor: by, Provider: provider})
	if err == nil && account != "" && record.AccountName != account {
		return fmt.Sprintf("That account at %s is not connected any more; another one is. Your home tab disconnects it.", s.Title(provider)), nil
	}
	return s.Disconnect(ctx, by, provider, ViaCard)
}

// Disconnect ends somebody's connection: the account is taken out here first, with
// all that was proved and not put yet, so that from the next request on nothing
// uses it and nothing brings it back; and then it is given back at the provider.
// The sentence is for him, in plain text.
func (s *Service) Disconnect(ctx context.Context, of chat.Actor, provider string, via Via) (sentence string, err error) {
	if !of.IsPerson() || !nameForm.MatchString(provider) {
		return "There is no such account.", nil
	}
	owner := credentials.Owner{Actor: of, Provider: provider}
	revision, err := s.o.Vault.Revision(ctx, owner)
	if err == nil {
		by := of
		if via == ViaOperator {
			by = chat.Actor{}
		}
		// First, so that it is kept though this process dies.
		s.recordDisconnected(ctx, owner, revision, string(via), by)
	}
	record, err := s.o.Vault.Delete(ctx, owner)
	if err == nil || errors.Is(err, credentials.ErrNone) {
		s.endAttempts(ctx, owner)
	}
	title := s.Title(provider)
	switch {
	case errors.Is(err, credentials.ErrNone):
		return fmt.Sprintf("No account of yours at %s is connected.", title), nil
	case err != nil:
		return "", err
	}
	name := "Your account"
	if record.AccountName != "" {
		name = "Your account " + record.AccountName
	}
	forgotten := fmt.Sprintf("%s at %s is disconnected: I have forgotten it.", name, title)
	c, ok := s.provider(provider)
	if !ok || !c.owns(record.AccountID) || c.Revoke.URL == "" || !record.Access.IsSet() {
		return forgotten + fmt.Sprintf(" %s cannot be told by me, so take my access back in your settings there too.", title), nil
	}
	var failed error
	ending := context.WithoutCancel(ctx)
	done := soon(func() {
		ending, cancel := context.WithTimeout(ending, 2*wireTime)
		defer cancel()
		if _, failed = s.wire.revokeAll(ending, c, record.Access, record.Refresh); failed != nil {
			s.o.Log.Warn("a token could not be revoked", "provider", provider, "actor", of.Key(), "error", failed)
		}
	})
	if !done || failed != nil {
		return forgotten + fmt.Sprintf(" %s did not confirm that my access ended there: look in your settings there too.", title), nil
	}
	return forgotten + fmt.Sprintf(" At %s my access is revoked.", title), nil
}

// endAttempts ends what somebody has begun at a provider and not proved: codes that
// nobody has entered there, and tokens whose code was not entered here. His links
// stay good, and so do the waits that they are for: he can begin anew.
func (s *Service) endAttempts(ctx context.Context, owner credentials.Owner) {
	ids, err := s.o.Vault.Reminders(ctx)
	for _, id := range ids {
		f, errFlow := s.load(ctx, id)
		switch {
		case errFlow != nil || f.owner() != owner:
		case f.Stage == stagePending:
			err = errors.Join(err, s.reopen(ctx, f))
		case f.Stage == stageOpen && f.Device != "":
			err = errors.Join(err, s.lapse(ctx, f))
		}
	}
	if err != nil && !errors.Is(err, credentials.ErrChanged) {
		s.o.Log.Warn("connections that were begun could not be ended", "provider", owner.Provider, "actor", owner.Actor.Key(), "error", err)
	}
}
