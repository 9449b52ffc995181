package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
)

// accounts are people's accounts at providers, and all that belongs to them.
type accounts struct {
	vault   *credentials.Vault
	service *oauth.Service // nil: nobody can connect one
	waits   *waits
	public  net.Listener // nil: there is no address for browsers
	name    string       // of this process, among replicas
	log     *slog.Logger
}

// openAccounts opens the vault and what connects accounts. Keys that are not
// those of what is sealed, and settings that do not go together, are wrong
// settings; where there can be no providers nothing is begun.
func (a assembly) openAccounts(ctx context.Context, box *mailbox.Box, edge *slackapp.Slack, self slackapp.Identity) (*accounts, error) {
	x := &accounts{vault: vaultOf(box, a.settings), waits: &waits{}, name: box.Owner(), log: a.log}
	providers, err := a.providers()
	if err != nil {
		return nil, err
	}
	if x.vault.Keyring() == nil {
		return x, nil
	}
	var keys *credentials.KeyError
	if err := x.vault.AnnounceOnce(ctx, x.name); err != nil {
		return nil, err
	}
	switch err := x.vault.Check(ctx); {
	case errors.As(err, &keys):
		return nil, &ConfigError{keys.Sentences()}
	case err != nil:
		return nil, err
	}
	if len(providers) == 0 && a.settings.PublicURL == "" {
		return x, nil // without an address for browsers plugins can provide none
	}
	apps, err := a.apps(providers)
	if err != nil {
		return nil, err
	}
	x.service, err = oauth.New(oauth.Options{
		Vault: x.vault, Providers: providers, PublicURL: a.settings.PublicURL, Timeout: a.settings.ConsentTimeout,
		Waits: x.waits, Tell: x.waits.tell, Email: edge.People.Email, Who: who(edge, self), Apps: apps, Log: a.log,
		Audit: auditOf(box, a.settings).Append, Outbound: a.options.Outbound,
	})
	if err != nil {
		return nil, &ConfigError{strings.Split(err.Error(), "\n")}
	}
	if a.settings.PublicAddr != "" {
		if x.public, err = net.Listen("tcp", a.settings.PublicAddr); err != nil {
			return nil, &ConfigError{[]string{fmt.Sprintf("PUBLIC_ADDR: it cannot be listened on: %v", err)}}
		}
	}
	return x, nil
}

// providers are those that OAUTH_PROVIDERS names, with their settings.
func (a assembly) providers() ([]oauth.Configured, error) {
	s := a.settings
	var wrong []string
	providers, err := oauth.Load(s.OAuthProviders, a.options.Environ)
	if err != nil {
		wrong = strings.Split(err.Error(), "\n")
	}
	if len(s.OAuthProviders) > 0 && !s.CredentialKeys.IsSet() {
		wrong = append(wrong, "CREDENTIAL_KEYS is required, since OAUTH_PROVIDERS names "+strings.Join(s.OAuthProviders, ", "))
	}
	if (s.PublicURL == "") != (s.PublicAddr == "") {
		wrong = append(wrong, "PUBLIC_URL and PUBLIC_ADDR belong together: one is how browsers reach the other")
	}
	for _, err := range oauth.Needs(providers, s.PublicURL) {
		wrong = append(wrong, "OAUTH_PROVIDERS: "+err.Error())
	}
	if len(wrong) > 0 {
		return nil, &ConfigError{wrong}
	}
	return providers, nil
}

// apps are what the bot itself is at providers.
func (a assembly) apps(providers []oauth.Configured) (map[string]oauth.App, error) {
	apps := map[string]oauth.App{}
	for _, p := range providers {
		if p.Name != "github" {
			continue
		}
		app, err := oauth.LoadGitHubApp(a.options.Environ, a.options.Outbound)
		if err != nil {
			return nil, &ConfigError{strings.Split(err.Error(), "\n")}
		}
		if app != nil {
			apps[p.Name] = app
		}
	}
	return apps, nil
}

// who names people, and the bot's own workspace, on pages.
func who(edge *slackapp.Slack, self slackapp.Identity) func(context.Context, chat.Actor) (name, workspace string, err error) {
	return func(ctx context.Context, person chat.Actor) (name, workspace string, err error) {
		if person.Team == self.Team {
			workspace = self.TeamName
		}
		facts, err := edge.Facts(ctx, person)
		return facts.Name, workspace, err
	}
}

// run keeps accounts fresh, and serves what browsers ask for, until ctx ends.
func (x *accounts) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if x.vault.Keyring() != nil {
		group.Go(func() error { return x.vault.Announce(ctx, x.name) })
	}
	if x.service != nil {
		group.Go(func() error { return x.service.Run(ctx) })
	}
	if x.public != nil {
		group.Go(func() error { return x.service.ServePublic(ctx, x.public) })
	}
	return group.Wait()
}

// gate is how the gate sees accounts; nil: there are none.
func (x *accounts) gate() gate.Accounts {
	if x.service == nil {
		return nil
	}
	return gateAccounts{x.service}
}

// links is how turns ask for accounts; nil: they cannot.
func (x *accounts) links() runtime.Links {
	if x.service == nil {
		return nil
	}
	return links{x.service}
}

// connections is what people do with their accounts in Slack; nil: nothing.
func (x *accounts) connections() slackapp.Connections {
	if x.service == nil {
		return nil
	}
	return x.service
}

// lists is what the home tab shows of accounts.
func (x *accounts) lists(in *extensions) []slackapp.HomeList {
	if x.service == nil {
		return nil
	}
	return []slackapp.HomeList{in.list("accounts", x.service.Home())}
}

type gateAccounts struct{ service *oauth.Service }

func (g gateAccounts) Knows(provider string) bool { return g.service.Knows(provider) }

func (g gateAccounts) Look(ctx context.Context, who chat.Actor, provider string, scopes []string) (gate.Standing, error) {
	s, err := g.service.Look(ctx, who, provider, scopes)
	return gate.Standing(s), err
}

func (g gateAccounts) Open(ctx context.Context, use gate.Use) (*plugins.Account, func(), error) {
	return g.service.Open(ctx, oauth.Use(use))
}

type links struct{ service *oauth.Service }

// Link implements runtime.Links.
func (l links) Link(ctx context.Context, of runtime.LinkFor) (chat.Card, error) {
	link, err := l.service.Begin(ctx, oauth.For{
		Actor: of.Actor, Provider: of.Provider, Scopes: of.Scopes, Conversation: of.Conversation, Turn: of.Turn, Wait: of.Wait,
	})
	return chat.Card{URL: link.URL, Code: link.Code, Flow: link.Flow, Until: link.Until.UTC().Truncate(time.Second), Provider: l.service.Title(of.Provider)}, err
}

// waits are the turns that wait for accounts. The runtime is made after what
// asks for it, and set before anything asks.
type waits struct{ runtime *runtime.Runtime }

// EndWait implements oauth.Waits.
func (w *waits) EndWait(ctx context.Context, in chat.Conversation, turn chat.TurnID, wait string, ending chat.Ending) error {
	_, err := w.runtime.EndWait(ctx, in, turn, wait, ending)
	return err
}

func (w *waits) tell(ctx context.Context, person chat.Actor, part chat.Part) error {
	return w.runtime.Tell(ctx, person, part)
}
