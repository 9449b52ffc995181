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
func (s *Service) finish(ctx context.Context, f flow) error {
	owner := f.owner()
	if f.Stage == stageProven {
		record := credentials.Record{
			Access: credentials.NewSecret(f.Access), Refresh: credentials.NewSecret(f.Refresh), Expires: f.Expires,
			Connected: s.o.Now().UTC(), Scopes: f.Granted, AccountID: f.AccountID, AccountName: f.AccountName, Email: f.Email,
		}
		_, replaced, had, err := s.o.Vault.Put(ctx, owner, record)
		if err != nil {
			return err
		}
		if had {
			s.dropReplaced(ctx, f, replaced)
		}
		f.Access, f.Refresh, f.Stage, f.Next = "", "", stageStored, s.o.Now().Add(claimTime)
		if f, err = s.save(ctx, f); err != nil {
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
	_, err := s.close(ctx, f)
	return err
}

// later has the sweep go on with a flow.
func (s *Service) later(ctx context.Context, f flow, why error) error {
	f.Next = s.o.Now().Add(15 * time.Second)
	_, err := s.save(ctx, f)
	return errors.Join(why, err)
}

// dropReplaced gives back the tokens that new ones have replaced. Where that would
// take the new ones along, they are left to end.
func (s *Service) dropReplaced(ctx context.Context, f flow, was credentials.Record) {
	c, ok := s.provider(f.owner().Provider)
	if !ok || !c.owns(was.AccountID) || c.Revoke.Whole && was.AccountID == f.AccountID {
		return
	}
	if was.Access.Reveal() == f.Access {
		was.Access = credentials.Secret{}
	}
	if was.Refresh.Reveal() == f.Refresh {
		was.Refresh = credentials.Secret{}
	}
	s.drop(ctx, c, was.Access, was.Refresh)
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
		if err != nil || other.owner() != f.owner() || other.Stage != stageOpen && other.Stage != stagePending ||
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

// tell tells the person of a new connection, once.
func (s *Service) tell(ctx context.Context, f flow) error {
	owner := f.owner()
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
