package oauth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/runtime/chat"
)

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
	sentence, err := s.Disconnect(ctx, person, item, ViaHome)
	return escape(sentence), err // what a list answers is Markdown
}
