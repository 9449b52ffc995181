package oauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"reeve/credentials"
	"reeve/runtime/chat"
)

// fresh is an account with a token that is good for a while yet. It is read from
// the store every time, so that what one process takes out or replaces is so for
// all of them from the next request on.
func (s *Service) fresh(ctx context.Context, c Configured, owner credentials.Owner) (credentials.Record, error) {
	return s.current(ctx, c, owner, 0)
}

// current is an account whose state is another one than that of a revision: with
// one, the provider has refused the token of that state. 0: any state will do.
func (s *Service) current(ctx context.Context, c Configured, owner credentials.Owner, refused int64) (credentials.Record, error) {
	var last error
	asked := false
	for deadline := s.o.Now().Add(refreshTime); ; {
		r, err := s.o.Vault.Get(ctx, owner)
		switch {
		case connectAgain(err):
			return r, fmt.Errorf("%w: %w", ErrConnect, err)
		case err != nil:
			return r, err
		case !r.Usable() || !c.owns(r.AccountID):
			return r, ErrConnect
		}
		now := s.o.Now()
		good := r.Revision != refused && (r.Expires.IsZero() || now.Before(r.Expires))
		switch {
		case good && (r.Expires.IsZero() || now.Add(refreshAhead).Before(r.Expires)):
			return r, nil
		case good && (r.State == credentials.Refreshing || !r.Refresh.IsSet() || last != nil || s.justRefreshed(r)):
			return r, nil // good for a little while
		case !r.Refresh.IsSet():
			return r, ErrConnect
		case r.State != credentials.Refreshing && last != nil:
			return r, last
		case r.State != credentials.Refreshing && s.justRefreshed(r) && asked:
			return r, fmt.Errorf("%w: %s gives tokens that are over at once", ErrConnect, c.Title)
		case r.State != credentials.Refreshing:
			last, asked = s.refresh(ctx, c, owner, r), true
			continue
		case now.After(deadline):
			return r, fmt.Errorf("refresh the account %s: %w", owner.Key(), credentials.ErrBusy)
		}
		if err := pause(ctx, refreshPause); err != nil {
			return r, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// refresh spends the refresh token of a state of an account, if nobody else has.
// An error says that the provider gave no new token for now; what the account then
// is has to be read.
func (s *Service) refresh(ctx context.Context, c Configured, owner credentials.Owner, r credentials.Record) error {
	intent, err := s.o.Vault.Intend(ctx, owner, r.Revision, refreshTime)
	switch {
	case errors.Is(err, credentials.ErrBusy), errors.Is(err, credentials.ErrChanged),
		errors.Is(err, credentials.ErrBroken), errors.Is(err, credentials.ErrNone):
		return nil // read it again
	case err != nil:
		return err
	}
	// The token may be spent from here on. A call that is stopped does not stop
	// this, or its answer would be lost.
	done := make(chan error, 1)
	go func() { done <- s.spend(context.WithoutCancel(ctx), c, intent, r) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// spend asks the provider and stores its answer.
func (s *Service) spend(ctx context.Context, c Configured, intent credentials.Intent, r credentials.Record) error {
	asking, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	got, err := s.wire.refresh(asking, c, r.Refresh, r.Scopes)
	if err != nil {
		return s.unspent(ctx, c, intent, r, err)
	}
	r.Access, r.Expires, r.Scopes = got.access, got.expires, got.scopes
	if got.refresh.IsSet() {
		r.Refresh = got.refresh
	}
	r.Extra = maps.Clone(r.Extra)
	if r.Extra == nil {
		r.Extra = map[string]string{}
	}
	r.Extra[refreshedAt] = strconv.FormatInt(s.o.Now().Unix(), 10)
	_, err = s.o.Vault.Settle(ctx, intent, r)
	if errors.Is(err, credentials.ErrChanged) || errors.Is(err, credentials.ErrNone) {
		// Disconnected or connected anew meanwhile: these tokens are nobody's.
		stands, _ := s.o.Vault.Get(ctx, intent.Owner)
		s.dropBeside(ctx, c.Name, credentials.Record{Access: got.access, Refresh: got.refresh, AccountID: r.AccountID}, stands)
		return nil
	}
	return err
}

// gateway: such a status may come from what stands in front of the provider, after
// the provider itself has done what it was asked.
func gateway(status int) bool {
	return status == http.StatusInternalServerError || status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// unspent stores that the provider has given no token. What certainly has not
// reached it, and what it has answered with an error, has spent nothing; of a
// request whose answer was lost nobody knows.
func (s *Service) unspent(ctx context.Context, c Configured, intent credentials.Intent, r credentials.Record, why error) error {
	failed, _ := errors.AsType[*Error](why)
	answered := failed != nil && (failed.Code != "" || failed.Status >= http.StatusMultipleChoices && !gateway(failed.Status))
	doubt := !refusedForGood(why) && !answered && (failed == nil || failed.Sent || failed.Status != 0)
	if !refusedForGood(why) && !doubt {
		if err := s.o.Vault.Release(ctx, intent); err != nil && !errors.Is(err, credentials.ErrChanged) {
			return errors.Join(why, err)
		}
		return why
	}
	// Refused for good, or nobody knows whether it was spent: it is not spent again.
	s.o.Log.Warn("an account has to be connected again", "provider", c.Name, "actor", intent.Owner.Actor.Key(), "doubt", doubt, "error", why)
	r.Refused = true
	_, err := s.o.Vault.Settle(ctx, intent, r)
	switch {
	case errors.Is(err, credentials.ErrChanged), errors.Is(err, credentials.ErrNone):
		return nil
	case err != nil:
		return err
	}
	rule := ruleProvider
	if doubt {
		rule = ruleRenewal
	}
	s.recordDisconnected(ctx, intent.Owner, intent.Revision, rule, chat.Actor{})
	return nil
}

// justRefreshed reports whether a state's token is so new that another one would
// not be taken either.
func (s *Service) justRefreshed(r credentials.Record) bool {
	at, err := strconv.ParseInt(r.Extra[refreshedAt], 10, 64)
	return err == nil && s.o.Now().Sub(time.Unix(at, 0)) < refreshAhead
}

// refusedToken is what the API's 401 does: another token is got, once. Where there
// is none to be got, or it was refused too, the provider is asked whether it refuses
// the token. Only then the account has to be connected again; else the 401 is the
// answer to that request alone. Nothing is deleted. again is false when there is no
// other token to try.
func (s *Service) refusedToken(ctx context.Context, c Configured, owner credentials.Owner, used credentials.Record) (next credentials.Record, again bool, err error) {
	now, err := s.o.Vault.Get(ctx, owner)
	if err != nil || !now.Usable() {
		return credentials.Record{}, false, nil
	}
	refused := int64(0)
	if now.Access.Equal(used.Access) {
		if !now.Refresh.IsSet() || s.justRefreshed(now) {
			return credentials.Record{}, false, s.judge(ctx, c, owner, now)
		}
		refused = now.Revision
	}
	if next, err = s.current(ctx, c, owner, refused); err != nil {
		return credentials.Record{}, false, nil
	}
	return next, !next.Access.Equal(used.Access), nil
}

// judge marks an account whose token its provider refuses.
func (s *Service) judge(ctx context.Context, c Configured, owner credentials.Owner, r credentials.Record) error {
	if !s.wire.refuses(ctx, c, r.Access) {
		s.o.Log.Info("a token was refused that its provider takes", "provider", owner.Provider, "actor", owner.Actor.Key())
		return nil
	}
	r.Refused = true
	_, err := s.o.Vault.Swap(ctx, owner, r.Revision, r)
	switch {
	case err == nil:
		s.o.Log.Info("an account has to be connected again", "provider", owner.Provider, "actor", owner.Actor.Key())
		s.recordDisconnected(ctx, owner, r.Revision, ruleProvider, chat.Actor{})
	case errors.Is(err, credentials.ErrChanged), errors.Is(err, credentials.ErrBusy), errors.Is(err, credentials.ErrNone):
		err = nil // it is another one by now
	}
	return err
}
