package oauth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// DisconnectAccount is Disconnect for the account of a name: another one that has
// taken its place stays.
func (s *Service) DisconnectAccount(ctx context.Context, by chat.Actor, provider, account string) (sentence string, err error) {
	record, err := s.o.Vault.Get(ctx, credentials.Owner{Actor: by, Provider: provider})
	if err == nil && account != "" && record.AccountName != account {
		return fmt.Sprintf("That account at %s is not connected any more; another one is. Your home tab disconnects it.", s.Title(provider)), nil
	}
	return s.Disconnect(ctx, by, provider)
}

// Disconnect ends somebody's connection: the account is taken out here first, so
// that from the next request on nothing uses it, and then given back at the
// provider. The sentence is for him.
func (s *Service) Disconnect(ctx context.Context, by chat.Actor, provider string) (sentence string, err error) {
	if !by.IsPerson() || !nameForm.MatchString(provider) {
		return "There is no such account.", nil
	}
	title := s.Title(provider)
	record, err := s.o.Vault.Delete(ctx, credentials.Owner{Actor: by, Provider: provider})
	switch {
	case errors.Is(err, credentials.ErrNone):
		return fmt.Sprintf("No account of yours at %s is connected.", title), nil
	case err != nil:
		return "", err
	}
	name := "Your account"
	if record.AccountName != "" {
		name = "Your account " + escape(record.AccountName)
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
			s.o.Log.Warn("a token could not be revoked", "provider", provider, "actor", by.Key(), "error", failed)
		}
	})
	if !done || failed != nil {
		return forgotten + fmt.Sprintf(" %s did not confirm that my access ended there: look in your settings there too.", title), nil
	}
	return forgotten + fmt.Sprintf(" At %s my access is revoked.", title), nil
}

const buttonDisconnect = "disconnect"

// Home is the list of a person's accounts for his home tab.
func (s *Service) Home() plugins.Home {
	return plugins.Home{Title: "Your connected accounts", Items: s.homeItems, Act: s.homeAct}
}

func (s *Service) homeItems(ctx context.Context, person chat.Actor) ([]chat.HomeItem, error) {
	accounts, err := s.o.Vault.List(ctx, person)
	if err != nil {
		return nil, err
	}
	var items []chat.HomeItem
	for _, a := range accounts {
		items = append(items, chat.HomeItem{
			ID: a.Provider, Text: s.line(a),
			Buttons: []chat.HomeButton{{
				Name: buttonDisconnect, Label: "Disconnect",
				Ask: fmt.Sprintf("Disconnect your account at %s? I forget it and give my access back.", s.Title(a.Provider)),
			}},
		})
	}
	if len(items) == 0 {
		items = []chat.HomeItem{{Text: "None. When something that you ask for needs one, I send you a link.", Small: true}}
	}
	return items, nil
}

// line is an account as its person sees it.
func (s *Service) line(a credentials.Account) string {
	text := s.Title(a.Provider) + ": " + a.AccountName
	if len(a.Scopes) > 0 {
		scopes := slices.Sorted(slices.Values(a.Scopes))
		text += "\nmay: " + strings.Join(scopes[:min(len(scopes), 20)], ", ")
	}
	if !a.Connected.IsZero() {
		text += "\nsince " + a.Connected.Format("2006-01-02")
	}
	if a.Refused || a.Broken {
		text += "; it has to be connected again"
	}
	return text
}

func (s *Service) homeAct(ctx context.Context, person chat.Actor, button, item string) (string, error) {
	if button != buttonDisconnect {
		return "", nil
	}
	return s.Disconnect(ctx, person, item)
}
