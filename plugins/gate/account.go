package gate

import (
	"context"
	"fmt"
	"slices"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Accounts are people's accounts at providers.
type Accounts interface {
	// Knows reports whether people can connect accounts at a provider.
	Knows(provider string) bool
	// Look says what a person has there, and what of the scopes it lacks.
	Look(ctx context.Context, who chat.Actor, provider string, scopes []string) (Standing, error)
	// Open makes an account of a person's usable for one call, until done is
	// called.
	Open(ctx context.Context, use Use) (account *plugins.Account, done func(), err error)
}

// Standing is what a person has at a provider.
type Standing struct {
	// Connected: there is an account, and the provider takes its credentials.
	Connected bool
	Name      string
	Lacking   []string // scopes that the account has not granted
}

// Use is one call for which an account is opened.
type Use struct {
	Actor    chat.Actor
	Provider string
	Scopes   []string
	Access   plugins.Access
	Key      string // the call's, for good
}

// account asks whether the actor has what the tool needs.
func (x *exam) account(ctx context.Context, g *Gate, asked plugins.Asked) (denial string) {
	t := x.tool
	if !t.Account {
		return ""
	}
	standing, err := question(ctx, g, func(ctx context.Context) (Standing, error) {
		return g.options.Accounts.Look(ctx, asked.Run.Actor, t.Provider, t.Scopes)
	})
	if err != nil {
		g.options.Logger.Error("account not looked up", "turn", asked.Run.Turn, "tool", t.Name, "provider", t.Provider, "err", err)
		return unchecked
	}
	need := &plugins.Connect{Provider: t.Provider, Scopes: t.Scopes}
	if standing.Connected {
		if len(standing.Lacking) == 0 {
			return ""
		}
		need.Lacking = standing.Lacking
	}
	if slices.Contains(unconnected(asked.Run), t.Provider) {
		return notMade + fmt.Sprintf("the person for whom you act was asked to connect an account at %s in this turn, and has not.", t.Provider) + owed
	}
	x.connect = need
	return notMade + fmt.Sprintf("the person for whom you act has to connect an account at %s first.", t.Provider) + owed
}

// unconnected are the providers at which the actor was to connect an account in
// this turn and has not.
func unconnected(run plugins.Run) []string {
	var list []string
	for _, d := range decisions(run) {
		for _, c := range d.Calls {
			if c.Rule == RuleConnect && !c.Allowed {
				list = append(list, c.Provider)
			}
		}
	}
	return list
}

// accountName is what a provider calls the actor's account, for a card.
func (g *Gate) accountName(ctx context.Context, who chat.Actor, t plugins.Tool) string {
	if !t.Account {
		return ""
	}
	standing, err := question(ctx, g, func(ctx context.Context) (Standing, error) {
		return g.options.Accounts.Look(ctx, who, t.Provider, t.Scopes)
	})
	if err != nil {
		return ""
	}
	return standing.Name
}

// usable reports whether a tool can be offered at all: one that needs an account
// can where people can connect one.
func (g *Gate) usable(t *tool) bool {
	return !t.Account || g.options.Accounts != nil && g.options.Accounts.Knows(t.Provider)
}
