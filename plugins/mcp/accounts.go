package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// A server with "oauth" has no connection of its own: its tools are the operator's
// list, and each call is a session with the account of its turn's actor. What
// lives here is the knowledge of where people connect accounts.

// kept is what a deployment remembers of such a server. The issuer that was found
// first stays until the operator names another one, and so does the client as
// which the bot has registered itself. There is no secret in it.
type kept struct {
	URL        string
	Provider   plugins.Provider
	Registered string // the client id
	Callback   string // with which it was registered
}

// runAccounts finds out where people connect accounts until ctx ends: at once, and
// whenever the operator has the file read again.
func (s *server) runAccounts(ctx context.Context) {
	built := s.build(s.config.catalog)
	s.mu.Lock()
	s.built = built
	s.mu.Unlock()
	s.hub.offer()
	if s.hub.services.Providers == nil {
		s.log.Error("people cannot connect accounts at the MCP server", "err", errNoAccounts)
		<-ctx.Done()
		return
	}
	first := s.hub.options.Retry
	for pause := first; ; {
		drain(s.hurry)
		err := s.learn(ctx)
		if ctx.Err() != nil {
			return
		}
		var retry <-chan time.Time
		if err != nil {
			wait := pause + rand.N(pause/4+1)
			pause, retry = min(2*pause, 60*first), time.After(wait)
			s.log.Error("where people connect accounts at the MCP server is not known", "retry", wait.String(), "err", s.mask.err(err))
		} else {
			pause = first
		}
		select {
		case <-ctx.Done():
			return
		case <-s.hurry:
		case <-retry:
		}
	}
}

var errNoAccounts = errors.New("accounts need CREDENTIAL_KEYS, PUBLIC_URL and PUBLIC_ADDR")

// learn makes the server's provider known: as it is remembered at once, and then
// as it is found to be.
func (s *server) learn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.hub.options.ConnectTimeout)
	defer cancel()
	known, err := s.remembered(ctx)
	if err != nil {
		return err
	}
	if known.Provider.Issuer != "" {
		// One that is in use already is replaced by what is found, and by nothing else.
		if err := s.provide(ctx, known); err != nil {
			s.log.Warn("what was known of the MCP server is of no use", "err", err)
		}
	}
	f, err := s.discover(ctx, known.Provider.Issuer)
	if err != nil {
		return s.unanswered(ctx, err)
	}
	next := known
	next.URL, next.Provider = s.config.URL, s.providerOf(f)
	if s.config.oauth.ClientID == "" && !known.registeredAt(next.Provider.Issuer, s.callback()) {
		if next.Registered, err = s.register(ctx, f); err != nil {
			return s.unanswered(ctx, err)
		}
		next.Callback = s.callback()
	}
	if next, err = s.remember(ctx, known, next); err != nil {
		return err
	}
	if err := s.provide(ctx, next); err != nil {
		return err
	}
	s.log.Info("people can connect accounts at the MCP server", "issuer", next.Provider.Issuer)
	return nil
}

func (k kept) registeredAt(issuer, callback string) bool {
	return k.Registered != "" && k.Provider.Issuer == issuer && k.Callback == callback
}

func (s *server) callback() string { return s.hub.services.Providers.Callback(s.config.provider()) }

// provide hands the provider to the host, with the client that the bot is there.
func (s *server) provide(ctx context.Context, k kept) error {
	p := k.Provider
	p.ClientID = k.Registered
	if o := s.config.oauth; o.ClientID != "" {
		p.ClientID, p.ClientSecret = o.ClientID, o.ClientSecret
	} else if !k.registeredAt(p.Issuer, s.callback()) {
		return errors.New("the bot is not registered there with the address that browsers come back to")
	}
	if len(s.config.oauth.Scopes) > 0 {
		p.Scopes = s.config.oauth.Scopes
	}
	return s.hub.provide(ctx, s, p)
}

// provide makes a provider known, if its server is still the one of its name.
func (h *hub) provide(ctx context.Context, s *server, p plugins.Provider) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil || h.servers[s.config.id] != s {
		return context.Canceled
	}
	return h.services.Providers.Provide(p)
}

// withdraw takes out what a server that is gone has provided.
func (h *hub) withdraw(s *server) {
	if s.config.oauth != nil && h.services.Providers != nil {
		h.services.Providers.Withdraw(s.config.provider())
	}
}

func (s *server) store() (plugins.Store, string) {
	if s.hub.services.Store == nil {
		return nil, ""
	}
	return s.hub.services.Store(chat.Actor{}), "oauth/" + s.config.id
}

// remembered is what the deployment knows of the server under its address, if that
// is what the operator wants.
func (s *server) remembered(ctx context.Context) (kept, error) {
	k := s.kept
	if store, key := s.store(); store != nil {
		data, is, err := store.Get(ctx, key)
		if err != nil {
			return kept{}, fmt.Errorf("read what is known of it: %w", err)
		}
		k = kept{}
		if is && json.Unmarshal(data, &k) != nil {
			return kept{}, errors.New("what is known of it cannot be read")
		}
	}
	if issuer := s.config.oauth.Issuer; k.URL != s.config.URL || issuer != "" && !sameIssuer(issuer, k.Provider.Issuer) {
		return kept{}, nil
	}
	return k, nil
}

// remember keeps what was found. Of two processes that find it at once, the first
// one's is taken.
func (s *server) remember(ctx context.Context, was, is kept) (kept, error) {
	s.kept = is
	store, key := s.store()
	if store == nil {
		return is, nil
	}
	data, err := json.Marshal(is)
	if err != nil {
		return kept{}, err
	}
	if was.URL == "" {
		added, err := store.Add(ctx, key, data)
		if err != nil {
			return kept{}, fmt.Errorf("keep what is known of it: %w", err)
		}
		if added {
			return is, nil
		}
		now, err := s.remembered(ctx)
		if err != nil || now.registeredAt(is.Provider.Issuer, s.callback()) {
			return now, err
		}
	}
	if err := store.Set(ctx, key, data); err != nil {
		return kept{}, fmt.Errorf("keep what is known of it: %w", err)
	}
	return is, nil
}
