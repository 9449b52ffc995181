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
