package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"reeve/credentials"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// Standing is how somebody stands with a provider.
type Standing struct {
	// Connected: he has an account there that can be used.
	Connected bool
	// Name is what people call the account.
	Name string
	ID   string // tells it from others of the same name
	// Lacking are scopes that a call needs and the account has not granted.
	Lacking []string
}

// Use is one call that spends somebody's rights.
type Use struct {
	Actor    chat.Actor
	Provider string
	// Account is the id of the one that the call was judged by: it spends no other.
	// Empty: any.
	Account string
	Scopes  []string
	Access  plugins.Access
	Key     string // of the call, for the log
}

// ErrConnect: the account has to be connected, or connected again.
var ErrConnect = errors.New("the account has to be connected first, or again")

// Look says how somebody stands with a provider. An error is of the store or the
// keys; that there is no account is none.
func (s *Service) Look(ctx context.Context, who chat.Actor, provider string, scopes []string) (Standing, error) {
	c, ok := s.provider(provider)
	if !ok {
		return Standing{}, fmt.Errorf("look for an account at %s: this provider is not configured", provider)
	}
	if !who.IsPerson() {
		return Standing{}, nil
	}
	record, err := s.o.Vault.Get(ctx, credentials.Owner{Actor: who, Provider: provider})
	switch {
	case connectAgain(err):
		return Standing{Lacking: scopes}, nil
	case err != nil:
		return Standing{}, err
	}
	return Standing{Connected: s.usable(record) && c.owns(record.AccountID), Name: record.AccountName, ID: record.AccountID, Lacking: c.Scopes.lacking(scopes, record.Scopes)}, nil
}

// connectAgain reports whether a record cannot be had until its person connects
// the account: there is none, or one that nobody can open any more.
func connectAgain(err error) bool {
	return errors.Is(err, credentials.ErrNone) || errors.Is(err, credentials.ErrDamaged) || errors.Is(err, credentials.ErrUnknownKey)
}

// usable reports whether an account can be used, now or after a refresh.
func (s *Service) usable(r credentials.Record) bool {
	return r.Usable() && (r.Expires.IsZero() || r.Refresh.IsSet() || s.o.Now().Before(r.Expires))
}

// Open opens somebody's account for one call. done ends it: whatever the clients
// are asked after that fails, and what they are at is cut.
func (s *Service) Open(ctx context.Context, use Use) (account *plugins.Account, done func(), err error) {
	owner := credentials.Owner{Actor: use.Actor, Provider: use.Provider}
	fail := func(err error) (*plugins.Account, func(), error) {
		return nil, nil, fmt.Errorf("open the account of %s: %w", owner.Key(), err)
	}
	c, ok := s.provider(use.Provider)
	switch {
	case !ok:
		return fail(errors.New("this provider is not configured"))
	case !use.Actor.IsPerson():
		return fail(credentials.ErrNobody)
	case use.Access != plugins.Read && use.Access != plugins.Write:
		return fail(errors.New("it is not said whether the call reads or writes"))
	}
	record, err := s.fresh(ctx, c, owner)
	if err != nil {
		return fail(err)
	}
	if use.Account != "" && use.Account != record.AccountID {
		return fail(errAnother)
	}
	if lacking := c.Scopes.lacking(use.Scopes, record.Scopes); len(lacking) > 0 {
		return fail(fmt.Errorf("%w: it has not granted %v", ErrConnect, lacking))
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	call := &apiCall{service: s, provider: c, owner: owner, account: record.AccountID, access: use.Access, life: life}
	account = &plugins.Account{ID: record.AccountID, Name: record.AccountName, Scopes: slices.Clone(record.Scopes), HTTP: call.client(call)}
	if app := s.o.Apps[use.Provider]; app != nil && use.Access == plugins.Write {
		account.App = func(ctx context.Context, place string) (*http.Client, bool, error) {
			if life.Err() != nil {
				return nil, false, errOver
			}
			// Not with the plugin's own context, with which it could watch the app's
			// proof go by.
			asking, stop := call.within(ctx)
			defer stop()
			auth, ok, err := app.Place(asking, place)
			if err != nil || !ok {
				return nil, false, err
			}
			return call.client(&appCall{call: call, auth: auth}), true, nil
		}
	}
	return account, func() { stop(); end(errOver) }, nil
}

var errAnother = fmt.Errorf("%w: another account was connected meanwhile", ErrConnect)

var errOver = errors.New("the call for which this account was opened is over")

const (
	// refreshAhead is how long before its end a token is replaced.
	refreshAhead = time.Minute
	// refreshTime is how long that may take with all that belongs to it.
	refreshTime = wireTime + 15*time.Second
	// refreshPause is between looks at a record that another process refreshes.
	refreshPause = 50 * time.Millisecond
	// refreshedAt says in a record when it was refreshed, in seconds.
	refreshedAt = "refreshed"
)
