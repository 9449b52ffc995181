package oauth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/runtime/chat"
)

// finish does what is left once a browser or an address has proved whose account
// it is: store it, end the waits for it, tell the person. Each part can be done
// again, by another process too, and the flow is over when all are done.
func (s *Service) finish(ctx context.Context, f flow) (err error) {
	if f.Stage == stageProven {
		if f, err = s.store(ctx, f); err != nil {
			return err
		}
	}
	if f.Stage != stageStored {
		return nil
	}
	if err := s.endWaits(ctx, f); err != nil {
		return s.later(ctx, f, err)
	}
	if err := s.tell(ctx, f); err != nil {
		return s.later(ctx, f, err)
	}
	_, err = s.close(ctx, f)
	return err
}

// store puts the account that a flow has proved. Of one that a process has left
// half-way nobody knows whether it was put; the permit does. It is spent by the put,
// and taken back by a disconnection, so that neither tokens that were renewed since
// are lost, nor an account that was disconnected since comes back.
func (s *Service) store(ctx context.Context, f flow) (flow, error) {
	if f.Permit == "" { // it was begun, or looked at, by a former release
		var err error
		if f, err = s.permit(ctx, f.owner(), f); err == nil {
			f, err = s.save(ctx, f)
		}
		if err != nil {
			return f, err
		}
	}
	record := f.record()
	record.Connected = s.o.Now().UTC()
	if err := s.recordConnected(ctx, f); err != nil {
		return f, err
	}
	_, replaced, had, err := s.o.Vault.Put(ctx, f.owner(), f.Permit, record)
	switch {
	case errors.Is(err, credentials.ErrPermit):
		stands, err := s.o.Vault.Get(ctx, f.owner())
		if err != nil && !errors.Is(err, credentials.ErrNone) {
			return f, err
		}
		if stands.Extra[connectedBy] != f.id() {
			return s.superseded(ctx, f, stands)
		}
	case err != nil:
		return f, err
	case had:
		s.dropBeside(ctx, f.owner().Provider, replaced, record)
	}
	f.Access, f.Refresh, f.Stage, f.Next = "", "", stageStored, s.o.Now().Add(claimTime)
	return s.save(ctx, f)
}

// superseded ends a flow whose account is not the one that stands: its person has
// disconnected meanwhile, or connected another one.
func (s *Service) superseded(ctx context.Context, f flow, stands credentials.Record) (flow, error) {
	by, how := f.actor(), chat.ByAccount
	if !stands.Access.IsSet() {
		how = chat.ByRefusal
	}
	if err := s.recordNotConnected(ctx, f, ruleSuperseded); err != nil {
		return f, err
	}
	if err := s.endWait(ctx, f, how, &by); err != nil {
		return f, err
	}
	dropped := f.record()
	f, err := s.close(ctx, f)
	if err != nil {
		return f, err
	}
	s.dropBeside(ctx, f.owner().Provider, dropped, stands)
	return f, nil
}

// later has the sweep go on with a flow.
func (s *Service) later(ctx context.Context, f flow, why error) error {
	f.Next = s.o.Now().Add(15 * time.Second)
	_, err := s.save(ctx, f)
	return errors.Join(why, err)
}

// dropBeside gives back tokens for which another account stands now, or none.
// Where that would take the other's tokens along, they are left to end.
func (s *Service) dropBeside(ctx context.Context, provider string, old, stands credentials.Record) {
	c, ok := s.provider(provider)
	if !ok || !c.owns(old.AccountID) || c.Revoke.Whole && stands.Access.IsSet() && stands.AccountID == old.AccountID {
		return
	}
	if old.Access.Equal(stands.Access) {
		old.Access = credentials.Secret{}
	}
	if old.Refresh.Equal(stands.Refresh) {
		old.Refresh = credentials.Secret{}
	}
	s.drop(ctx, c, old.Access, old.Refresh)
}

// endWaits ends every wait of the person for this provider that the account is
// enough for, the flow's own among them.
func (s *Service) endWaits(ctx context.Context, f flow) error {
	by := f.actor()
	if err := s.endWait(ctx, f, chat.ByAccount, &by); err != nil {
		return err
	}
	c, _ := s.provider(f.owner().Provider)
	ids, err := s.o.Vault.Reminders(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id == f.id() {
			continue
		}
		other, err := s.load(ctx, id)
		if err != nil || other.owner() != f.owner() || !other.begun() ||
			len(c.Scopes.lacking(other.Asked, f.Granted)) > 0 {
			continue
		}
		if err := s.endWait(ctx, other, chat.ByAccount, &by); err != nil {
			return err
		}
		before := other
		if _, err := s.close(ctx, other); err == nil {
			s.dropOf(ctx, before)
		}
	}
	return nil
}

// tell tells the person of a new connection, once. One that he has disconnected by
// then is none.
func (s *Service) tell(ctx context.Context, f flow) error {
	owner := f.owner()
	if _, err := s.o.Vault.Revision(ctx, owner); errors.Is(err, credentials.ErrNone) {
		return nil
	}
	part := chat.Part{
		ID: "connected/" + f.id(), To: chat.Destination{DM: owner.Actor.User},
		Markdown: fmt.Sprintf("Your account %s at %s is connected. I use it only for what you ask me to do. If that was not you, disconnect it in my home tab.", escape(f.AccountName), s.Title(owner.Provider)),
		Card:     &chat.Card{Kind: chat.ConnectedCard, Provider: owner.Provider, Account: f.AccountName, Flow: f.id()},
	}
	if s.o.Tell != nil {
		if err := s.o.Tell(ctx, owner.Actor, part); err != nil {
			return fmt.Errorf("tell of a connection: %w", err)
		}
	}
	for range 3 {
		record, err := s.o.Vault.Get(ctx, owner)
		if errors.Is(err, credentials.ErrNone) {
			return nil
		}
		if err != nil || record.Told {
			return err
		}
		record.Told = true
		if _, err = s.o.Vault.Swap(ctx, owner, record.Revision, record); err == nil {
			return nil
		}
	}
	return nil // it is renewed at this moment; he was told
}

func (s *Service) say(ctx context.Context, person chat.Actor, id, text string) error {
	if s.o.Tell == nil {
		return nil
	}
	return s.o.Tell(ctx, person, chat.Part{ID: id, To: chat.Destination{DM: person.User}, Markdown: text})
}

// escape writes a stranger's name as plain Markdown.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]()#+-.!<>|~@&:", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
