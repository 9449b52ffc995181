package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"reeve/credentials"
	"reeve/runtime/chat"
)

const (
	// defaultInterval is what a provider means that does not say (RFC 8628, 3.5),
	// and slowerBy what slow_down adds.
	defaultInterval = 5
	slowerBy        = 5
	maxInterval     = 300
)

// beginDevice begins a connection by a code that the person enters at the provider.
func (s *Service) beginDevice(ctx context.Context, c Configured, owner credentials.Owner, f flow) (Link, error) {
	f, link, err := s.deviceCode(ctx, c, owner, f)
	if err != nil {
		return Link{}, err
	}
	link.Flow = secret()
	if _, err := s.add(ctx, link.Flow, owner, f); err != nil {
		return Link{}, err
	}
	s.nudge()
	return link, nil
}

// NewCode gives the person of a connection by a code another one, as a card that
// takes the place of the one with the older: that is over, or he has lost it, and
// it counts no more. Without a card the sentence says why there is none.
func (s *Service) NewCode(ctx context.Context, id string, by chat.Actor) (card *chat.Card, sentence string, err error) {
	for range 3 { // somebody may look at it at the same time
		if card, sentence, err = s.newCode(ctx, id, by); !errors.Is(err, credentials.ErrChanged) {
			break
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("ask for a new code: %w", err)
	}
	return card, sentence, nil
}

func (s *Service) newCode(ctx context.Context, id string, by chat.Actor) (*chat.Card, string, error) {
	f, err := s.load(ctx, id)
	if errors.Is(err, errNoFlow) {
		return nil, sayGone, nil
	}
	if err != nil {
		return nil, "", err
	}
	c, ok := s.provider(f.owner().Provider)
	switch {
	case !by.IsPerson() || by != f.actor():
		return nil, sayNotYours, nil
	case f.Stage == stageChecking:
		return nil, sayLooking, nil
	case f.Stage == stageProven || f.Stage == stageStored:
		return nil, sayAlready, nil
	case !ok || c.DeviceURL == "" || f.Stage != stageLapsed && (f.Stage != stageOpen || f.Device == "") || !s.o.Now().Before(f.Until):
		return nil, sayGone, nil
	case f.Openings >= maxOpenings:
		return nil, sayTooOften, nil
	}
	// Nobody asks for the older code's outcome from here on, so that of two that are
	// entered at once one is not lost.
	f = f.without()
	f.Stage, f.Openings, f.Next = stageLapsed, f.Openings+1, f.Until
	if f, err = s.save(ctx, f); err != nil {
		return nil, "", err
	}
	owner := f.owner()
	next, link, err := s.deviceCode(ctx, c, owner, f)
	if err != nil {
		return nil, "", err
	}
	next.Stage = stageOpen
	if _, err := s.save(ctx, next); err != nil {
		return nil, "", err
	}
	s.nudge()
	card := &chat.Card{
		Kind: chat.ConnectCard, Conversation: f.Conversation, Turn: f.Turn, Wait: f.Wait, Until: f.Until.UTC().Truncate(time.Second),
		URL: link.URL, Code: link.Code, Flow: id, Provider: c.Title, Asking: &chat.Asking{Provider: owner.Provider, Scopes: f.Asked},
	}
	if standing, err := s.Look(ctx, by, owner.Provider, f.Asked); err == nil && standing.Connected {
		card.Asking.Lacking = standing.Lacking
	}
	return card, "", nil
}

// deviceCode asks the provider for a code.
func (s *Service) deviceCode(ctx context.Context, c Configured, owner credentials.Owner, f flow) (flow, Link, error) {
	const op = "ask for a code"
	fail := func(err error) (flow, Link, error) { return flow{}, Link{}, err }
	// What is allowed before a disconnection is over with it.
	f, err := s.permit(ctx, owner, f)
	if err != nil {
		return fail(err)
	}
	scopes := s.wanted(ctx, c, owner, f.Asked)
	config := c.config("")
	config.Scopes = nil
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("scope", joinScopes(c, scopes))}
	if c.Resource != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", c.Resource))
	}
	asking, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	got, err := config.DeviceAuth(context.WithValue(asking, oauth2.HTTPClient, s.wire.deviceClient(c)), options...)
	if err != nil {
		return fail(failure(op, c.Name, false, err))
	}
	address, err := url.Parse(got.VerificationURI)
	switch {
	case err != nil || !safeURL(got.VerificationURI, len(s.o.Outbound.Allow) > 0):
		return fail(&Error{Op: op, Provider: c.Name, why: "its page has no safe address"})
	case got.DeviceCode == "" || !plainToken(got.DeviceCode) || got.UserCode == "" || len(got.UserCode) > 64 || bounded(got.UserCode) != got.UserCode:
		return fail(&Error{Op: op, Provider: c.Name, why: "its answer holds no code"})
	}
	now := s.o.Now()
	f.CodeUntil = f.Until
	if !got.Expiry.IsZero() {
		// The library's clock is the machine's, and ours may be another.
		if ends := now.Add(time.Until(got.Expiry)); ends.Before(f.Until) {
			f.CodeUntil = ends
		}
	}
	f.Device, f.Interval = got.DeviceCode, defaultInterval
	if got.Interval > 0 {
		f.Interval = int(min(got.Interval, maxInterval))
	}
	f.Next = now.Add(f.pause())
	return f, Link{URL: address.String(), Code: got.UserCode, Until: f.Until}, nil
}
