package oauth

import (
	"context"
	"errors"
	"fmt"

	"reeve/credentials"
	"reeve/runtime/chat"
)

// Sentences that people read after they have entered a code.
const (
	sayNotYours = "This is not yours to answer: it connects somebody else's account."
	sayGone     = "This connection is not under way any more. Open the link again to begin anew, or ask me once more."
	sayThere    = "This code is entered at the provider's own page, not here."
	sayNoCode   = "No page has shown a code yet. Open the link first, allow access there, and enter the code that the page then shows."
	sayLate     = "This code is too old. Open the link again: its page shows a new one."
	sayTooMany  = "That was wrong five times. Nothing is connected; what was allowed is taken back. Open the link again to begin anew."
	sayAlready  = "The account is connected."
	sayLooking  = "The code was entered: I am looking whose account it is."
	sayTooOften = "Too many codes were asked for. Ask me once more for what needs the account."
)

// Enter is somebody entering in Slack the code that the page of his browser has
// shown: that proves that it was his browser. done: nothing more can be entered
// for this attempt.
func (s *Service) Enter(ctx context.Context, id string, by chat.Actor, code string) (sentence string, done bool, err error) {
	for range 2 * maxTries { // others may enter at the same time
		sentence, done, err = s.enter(ctx, id, by, code)
		if !errors.Is(err, credentials.ErrChanged) {
			break
		}
	}
	if err != nil {
		return "", false, fmt.Errorf("enter a code: %w", err)
	}
	return sentence, done, nil
}

func (s *Service) enter(ctx context.Context, id string, by chat.Actor, code string) (string, bool, error) {
	f, err := s.load(ctx, id)
	switch {
	case errors.Is(err, errNoFlow):
		return sayGone, true, nil
	case err != nil:
		return "", false, err
	case !by.IsPerson() || by != f.actor():
		return sayNotYours, true, nil
	case f.Stage == stageProven || f.Stage == stageStored:
		return sayAlready, true, nil
	case f.Stage == stageOpen && f.Device == "":
		return sayNoCode, false, nil
	case f.Stage == stageOpen, f.Stage == stageLapsed:
		return sayThere, true, nil
	case f.Stage != stagePending:
		return sayGone, true, nil
	case s.o.Now().After(f.Next):
		return sayLate, true, s.reopen(ctx, f)
	}
	if !equal(f.Code, readCode(code)) {
		f.Tries++
		if f.Tries >= maxTries {
			if err := s.recordNotConnected(ctx, f, ruleWrongCode); err != nil {
				return "", false, err
			}
			return sayTooMany, true, s.reopen(ctx, f)
		}
		if _, err := s.save(ctx, f); err != nil {
			return "", false, err
		}
		left := maxTries - f.Tries
		return fmt.Sprintf("That is not the code that your page shows. %s left.", count(left, "try", "tries")), false, nil
	}
	f.Stage, f.Proof, f.Code, f.Next = stageProven, ruleCode, "", s.o.Now().Add(claimTime)
	if f, err = s.permit(ctx, f.owner(), f); err == nil {
		f, err = s.save(ctx, f)
	}
	if err != nil {
		return "", false, err
	}
	name, title := f.AccountName, s.Title(f.owner().Provider)
	// Slack waits three seconds for this answer. It is proven: what is not done in
	// time goes on, or the sweep does it.
	soon(func() {
		if err := s.finish(context.WithoutCancel(ctx), f); err != nil {
			s.o.Log.Warn("a connection is not finished yet", "provider", f.owner().Provider, "actor", by.Key(), "error", err)
		}
	})
	return fmt.Sprintf("Connected: %s at %s.", name, title), true, nil
}

// reopen drops a token that was not proven. The link stays good.
func (s *Service) reopen(ctx context.Context, f flow) error {
	before := f
	f = f.without()
	f.Stage, f.Tries, f.Next = stageOpen, 0, f.Until
	if _, err := s.save(ctx, f); err != nil {
		return err
	}
	s.dropOf(ctx, before)
	return nil
}

// Refuse is somebody saying that he does not want to connect the account.
func (s *Service) Refuse(ctx context.Context, id string, by chat.Actor) (sentence string, err error) {
	for range maxTries {
		f, err := s.load(ctx, id)
		switch {
		case errors.Is(err, errNoFlow):
			return sayGone, nil
		case err != nil:
			return "", fmt.Errorf("refuse a connection: %w", err)
		case !by.IsPerson() || by != f.actor():
			return sayNotYours, nil
		}
		if sentence, err = s.refuse(ctx, f, &by); !errors.Is(err, credentials.ErrChanged) {
			return sentence, err
		}
	}
	return "", fmt.Errorf("refuse a connection: %w", credentials.ErrChanged)
}

// refuse ends a flow and its wait: its person does not want it, or somebody at the
// provider, of whom nothing is proven.
func (s *Service) refuse(ctx context.Context, f flow, by *chat.Actor) (string, error) {
	switch f.Stage {
	case stageProven, stageStored:
		return sayAlready, nil
	case stageOver:
		return sayGone, nil
	}
	// The wait first: it can be ended twice, but not forgotten.
	if err := s.endWait(ctx, f, chat.ByRefusal, by); err != nil {
		return "", err
	}
	if _, err := s.close(ctx, f); err != nil {
		return "", err
	}
	s.dropOf(ctx, f)
	return "Nothing is connected.", nil
}

func (s *Service) endWait(ctx context.Context, f flow, how chat.How, by *chat.Actor) error {
	if f.Wait == "" || s.o.Waits == nil {
		return nil
	}
	ending := chat.Ending{How: how, By: by, Time: s.o.Now().UTC()}
	if err := s.o.Waits.EndWait(ctx, f.Conversation, f.Turn, f.Wait, ending); err != nil {
		return fmt.Errorf("end the wait of turn %s: %w", f.Turn, err)
	}
	return nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
