package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"

	"reeve/credentials"
	"reeve/runtime/chat"
)

// For is what an account is asked for.
type For struct {
	Actor    chat.Actor
	Provider string
	Scopes   []string // that a call needs, in the provider's words
	// The wait that ends with the connection; empty: none does.
	Conversation chat.Conversation
	Turn         chat.TurnID
	Wait         string
}

// Link is how somebody connects an account: an address for him alone, and, with
// the device flow, the code that its page asks for.
type Link struct {
	URL, Code string
	// Flow names the connection; it is no secret.
	Flow string
	// Until is when the link ends. A device code ends sooner, when its provider says
	// so; NewCode then gives another one.
	Until time.Time
}

// Begin makes the link. It is called again harmlessly: the older link stays good
// until its own end.
func (s *Service) Begin(ctx context.Context, f For) (Link, error) {
	owner := credentials.Owner{Actor: f.Actor, Provider: f.Provider}
	fail := func(err error) (Link, error) {
		return Link{}, fmt.Errorf("begin to connect %s: %w", owner.Key(), err)
	}
	c, ok := s.provider(f.Provider)
	switch {
	case !f.Actor.IsPerson():
		return fail(credentials.ErrNobody)
	case !ok || !s.Knows(f.Provider):
		return fail(errors.New("accounts at this provider cannot be connected here"))
	}
	now := s.o.Now()
	begun := flow{
		Stage: stageOpen, Asked: f.Scopes, Conversation: f.Conversation, Turn: f.Turn, Wait: f.Wait,
		Until: now.Add(s.o.Timeout),
	}
	if s.o.PublicURL == "" {
		link, err := s.beginDevice(ctx, c, owner, begun)
		if err != nil {
			return fail(err)
		}
		return link, nil
	}
	begun.Next = begun.Until
	id, way := secret(), secret()
	if _, err := s.add(ctx, id, owner, begun); err != nil {
		return fail(err)
	}
	if _, err := s.o.Vault.AddFlow(ctx, linkName(way), owner, []byte(id), s.o.Timeout+stateTime); err != nil {
		return fail(err)
	}
	return Link{URL: publicPath(s.o.PublicURL, "/connect/"+way), Flow: id, Until: begun.Until}, nil
}

// wanted are the scopes to ask for: a new token takes the place of the old one,
// so what that has been granted is asked for again.
func (s *Service) wanted(ctx context.Context, c Configured, owner credentials.Owner, asked []string) []string {
	held, err := s.o.Vault.Get(ctx, owner)
	if err != nil {
		return c.Scopes.ask(asked)
	}
	return c.Scopes.ask(asked, held.Scopes)
}

// start begins an attempt in a browser: a state of its own, which takes the place
// of the one before, and where to send the browser.
func (s *Service) start(ctx context.Context, f flow, browser string) (address string, err error) {
	c, ok := s.provider(f.owner().Provider)
	now := s.o.Now()
	switch {
	case !ok || f.Stage != stageOpen && f.Stage != stagePending:
		return "", errNoFlow
	case now.After(f.Until):
		return "", errNoFlow
	case f.Openings >= maxOpenings:
		return "", errTooOften
	}
	scopes := s.wanted(ctx, c, f.owner(), f.Asked)
	before := f
	state, verifier := secret(), oauth2.GenerateVerifier()
	f = f.without()
	f.Stage, f.Openings, f.Tries = stageOpen, f.Openings+1, 0
	f.State, f.StateUntil, f.Browser, f.Verifier = hashed(state), now.Add(stateTime), hashed(browser), verifier
	f.Next = later(f.Until, f.StateUntil)
	if _, err := s.save(ctx, f); err != nil {
		return "", err
	}
	s.dropOf(ctx, before) // a token whose code was never entered
	if _, err := s.o.Vault.AddFlow(ctx, stateName(state), f.owner(), []byte(f.id()), stateTime); err != nil {
		return "", err
	}
	config := c.config(s.o.PublicURL)
	options := []oauth2.AuthCodeOption{}
	for name, value := range c.ExtraParams {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	if len(scopes) > 0 {
		options = append(options, oauth2.SetAuthURLParam("scope", joinScopes(c, scopes)))
	}
	if c.PKCE {
		options = append(options, oauth2.S256ChallengeOption(verifier))
	}
	if c.Resource != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", c.Resource))
	}
	return config.AuthCodeURL(state, options...), nil
}

var errTooOften = errors.New("this link was opened too often")

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
