package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
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

func (f flow) pause() time.Duration { return time.Duration(f.Interval) * time.Second }

// poll asks once whether the code was entered. The flow is claimed.
func (s *Service) poll(ctx context.Context, f flow) error {
	c, ok := s.provider(f.owner().Provider)
	if !ok {
		return errors.New("its provider is not configured any more")
	}
	if s.o.Now().After(f.CodeUntil) {
		return s.lapse(ctx, f)
	}
	got, err := s.wire.poll(ctx, c, f.Device, s.wanted(ctx, c, f.owner(), f.Asked))
	if err == nil {
		f.take(got, account{})
		f.Device, f.Stage, f.Next = "", stageChecking, s.o.Now().Add(claimTime)
		// Nobody can ask for it again: this must not end with a stop.
		if f, err = s.save(context.WithoutCancel(ctx), f); err != nil {
			s.dropOf(ctx, f)
			return err
		}
		return s.check(ctx, f)
	}
	failed, _ := errors.AsType[*Error](err)
	switch {
	case failed != nil && failed.Code == codePending:
	case failed != nil && failed.Code == codeSlowDown:
		f.Interval = min(f.Interval+slowerBy, maxInterval)
	case failed != nil && failed.Code == "access_denied":
		_, err := s.refuse(ctx, f, nil)
		return err
	case failed != nil && failed.Status >= 400 && failed.Status < 500 && failed.Status != 429 && failed.Status != 408,
		failed != nil && failed.Code != "" && failed.Status < 500:
		s.o.Log.Warn("a code was not accepted any more", "provider", c.Name, "error", err)
		return s.lapse(ctx, f)
	default:
		// Network trouble: asked again, more slowly (RFC 8628, 3.5).
		s.o.Log.Warn("a provider was not reached", "provider", c.Name, "error", err)
		f.Interval = min(2*f.Interval, maxInterval)
	}
	f.Next = s.o.Now().Add(f.pause())
	_, err = s.save(ctx, f)
	return err
}

// lapse ends a code, not the wait: its person can ask for another one until that
// ends by its own time.
func (s *Service) lapse(ctx context.Context, f flow) error {
	f = f.without()
	f.Stage, f.Next = stageLapsed, f.Until
	if !s.o.Now().Before(f.Until) {
		_, err := s.close(ctx, f)
		return err
	}
	_, err := s.save(ctx, f)
	return err
}

// check looks whose the account is that was connected by a code: whoever was
// talked into entering somebody else's code has another address than he has.
func (s *Service) check(ctx context.Context, f flow) error {
	c, ok := s.provider(f.owner().Provider)
	if !ok {
		return errors.New("its provider is not configured any more")
	}
	whose, err := s.wire.whose(ctx, c, credentials.NewSecret(f.Access))
	if err != nil {
		return s.again(ctx, f, err)
	}
	f.Proof = ruleAnyAddress
	if !c.AnyEmail {
		f.Proof = ruleAddress
		if s.o.Email == nil {
			return errors.New("people's addresses are not known here")
		}
		address, err := s.o.Email(ctx, f.actor())
		if err != nil {
			return s.again(ctx, f, err)
		}
		if !verified(whose, address) {
			return s.another(ctx, f, c, whose)
		}
	}
	f.AccountID, f.AccountName, f.Email = whose.id, whose.name, whose.email
	f.Stage, f.Next = stageProven, s.o.Now().Add(claimTime)
	if f, err = s.save(context.WithoutCancel(ctx), f); err != nil {
		return err
	}
	return s.finish(context.WithoutCancel(ctx), f)
}

// again looks at a flow's account later, for a while.
func (s *Service) again(ctx context.Context, f flow, why error) error {
	if s.o.Now().After(f.CodeUntil.Add(codeTime)) {
		s.dropOf(ctx, f)
		return errors.Join(why, s.lapse(ctx, f))
	}
	f.Next = s.o.Now().Add(15 * time.Second)
	_, err := s.save(ctx, f)
	return errors.Join(why, err)
}

// another drops an account that may be somebody else's.
func (s *Service) another(ctx context.Context, f flow, c Configured, whose account) error {
	what := "That account has no verified e-mail address that I can see"
	if len(whose.verified) > 0 {
		what = "That account has another e-mail address than your Slack profile"
	}
	text := fmt.Sprintf("%s. Nothing is connected: what was allowed at %s is taken back. I connect only an account whose verified address is yours in Slack, because anybody could have been talked into entering that code.", what, c.Title)
	if err := s.say(ctx, f.actor(), "another/"+f.id(), text); err != nil {
		return s.again(ctx, f, err)
	}
	if err := s.recordNotConnected(ctx, f, ruleAddress); err != nil {
		return s.again(ctx, f, err)
	}
	if err := s.endWait(ctx, f, chat.ByRefusal, nil); err != nil {
		return s.again(ctx, f, err)
	}
	before := f
	if _, err := s.close(ctx, f); err != nil {
		return err
	}
	s.dropOf(ctx, before)
	return nil
}

// verified reports whether an account is known to have an address. Letters of
// ASCII count in either case; any other difference is one.
func verified(a account, address string) bool {
	address = lowerASCII(strings.TrimSpace(address))
	if address == "" {
		return false
	}
	for _, v := range a.verified {
		if lowerASCII(strings.TrimSpace(v)) == address {
			return true
		}
	}
	return false
}

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

func joinScopes(c Configured, scopes []string) string {
	return strings.Join(scopes, c.Scopes.Separator)
}
