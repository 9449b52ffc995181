package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	ID        string   // tells the account from others of the same name
	Lacking   []string // scopes that the account has not granted
}

// Use is one call for which an account is opened.
type Use struct {
	Actor    chat.Actor
	Provider string
	// Account is the id of the one that was looked at when it was judged; empty: any.
	Account string
	Scopes  []string
	Access  plugins.Access
	Key     string // the call's, for good
}

// look finds out what the call needs of the actor's account, and what he has at the
// tool's provider, once.
func (x *exam) look(ctx context.Context, g *Gate, asked plugins.Asked) (denial string) {
	t := x.tool
	if !t.Account || !asked.Run.Actor.IsPerson() {
		return ""
	}
	type found struct {
		scopes   []string
		standing Standing
	}
	got, err := question(ctx, g, func(ctx context.Context) (f found, err error) {
		if f.scopes, err = g.scopes(ctx, t, asked); err == nil {
			f.standing, err = g.options.Accounts.Look(ctx, asked.Run.Actor, t.Provider, f.scopes)
		}
		return f, err
	})
	if err != nil {
		g.options.Logger.Error("account not looked up", "turn", asked.Run.Turn, "tool", t.Name, "provider", t.Provider, "err", err)
		return unchecked
	}
	x.scopes, x.standing = got.scopes, got.standing
	return ""
}

// scopes are those that a call needs: its tool's, and its own.
func (g *Gate) scopes(ctx context.Context, t *tool, asked plugins.Asked) ([]string, error) {
	if t.MoreScopes == nil {
		return t.Scopes, nil
	}
	more, err := t.MoreScopes(ctx, g.call(asked, t))
	if err != nil {
		return nil, fmt.Errorf("ask for the call's own scopes: %w", err)
	}
	all := slices.Clone(t.Scopes)
	for _, scope := range more {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all, nil
}

// account asks whether the actor has what the tool needs.
func (x *exam) account(asked plugins.Asked) (rule, denial string) {
	t := x.tool
	if !t.Account || x.standing.Connected && len(x.standing.Lacking) == 0 {
		return "", ""
	}
	past := decisions(asked.Run)
	asks := 0
	for _, d := range past {
		if d.Wait != "" {
			asks++
		}
		for _, c := range d.Calls {
			switch {
			case c.Rule != chat.RuleConnect || c.Provider != t.Provider:
			case c.Allowed:
				return ruleAccount, notMade + fmt.Sprintf("the account that the person for whom you act has connected at %s has not granted what it needs (%s).", t.Provider, strings.Join(x.standing.Lacking, ", ")) + owed
			default:
				return ruleAccount, notMade + fmt.Sprintf("the person for whom you act was asked to connect an account at %s in this turn, and has not.", t.Provider) + owed
			}
		}
	}
	if asks >= MaxAsked {
		return string(RuleAskedOut), notMade + sentences[RuleAskedOut]
	}
	x.connect = &plugins.Connect{Provider: t.Provider, Scopes: x.scopes}
	if x.standing.Connected {
		x.connect.Lacking = x.standing.Lacking
	}
	return ruleAccount, notMade + fmt.Sprintf("the person for whom you act has to connect an account at %s first.", t.Provider) + owed
}

// usable reports whether a tool can be offered at all: one that needs an account
// can where people can connect one.
func (g *Gate) usable(t *tool) bool {
	return !t.Account || g.options.Accounts != nil && g.options.Accounts.Knows(t.Provider)
}
