package oauth

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"reeve/credentials"
)

// dueAtOnce is how many flows one look takes on.
const dueAtOnce = 32

// Run asks providers whether codes were entered, and finishes what a process has
// left, until ctx ends. Several processes may run it: each step is one's alone.
func (s *Service) Run(ctx context.Context) error {
	for s.none() { // until a plugin provides one
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		}
	}
	ticker := time.NewTicker(s.o.Tick)
	defer ticker.Stop()
	for {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("connections that are under way could not be looked at", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-s.wake:
		}
	}
}

// nudge has Run look at once.
func (s *Service) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// sweep does what is due.
func (s *Service) sweep(ctx context.Context) error {
	ids, err := s.o.Vault.Due(ctx, s.o.Now(), dueAtOnce)
	if err != nil {
		return err
	}
	// A provider that does not answer holds up its own flows alone.
	var group errgroup.Group
	group.SetLimit(dueAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			if err := s.step(ctx, id); err != nil && !errors.Is(err, credentials.ErrChanged) && ctx.Err() == nil {
				s.o.Log.Warn("a connection does not go on", "error", err)
			}
			return nil
		})
	}
	return group.Wait()
}

// step does what is due about one flow, if no other process does.
func (s *Service) step(ctx context.Context, id string) error {
	f, err := s.load(ctx, id)
	switch {
	case errors.Is(err, errNoFlow):
		return s.o.Vault.Unremind(ctx, id)
	case err != nil:
		// Such as one that other keys have sealed: it is looked at again, seldom.
		return errors.Join(err, s.o.Vault.Remind(ctx, id, s.o.Now().Add(10*time.Minute)))
	case f.Stage == stageOver:
		return s.o.Vault.Unremind(ctx, id)
	case s.o.Now().Before(f.Next):
		// Somebody was faster. The list is left to him: what was read here may be his
		// claim, and he may have named an earlier time since.
		return nil
	case f.Stage == stageOpen && f.Device == "", f.Stage == stageLapsed:
		// The mailbox ends the wait by its own clock.
		_, err := s.close(ctx, f)
		return err
	case f.Stage == stagePending:
		return s.reopen(ctx, f)
	}
	f.Next = s.o.Now().Add(claimTime)
	if f, err = s.save(ctx, f); err != nil {
		return err
	}
	switch f.Stage {
	case stageOpen:
		return s.poll(ctx, f)
	case stageChecking:
		return s.check(ctx, f)
	}
	return s.finish(context.WithoutCancel(ctx), f)
}
