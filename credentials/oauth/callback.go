package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"reeve/credentials"
)

// callback is where a provider sends the browser back to. Each provider has an
// address of its own, so that what one sends is never taken for another's, and
// what it sends counts once, for the browser in which it was begun.
func (s *Service) callback(w http.ResponseWriter, r *http.Request) {
	p, err := s.returned(w, r)
	if err != nil {
		s.o.Log.Error("a connection broke off", "provider", bounded(r.PathValue("provider")), "error", err)
		p = faultPage()
	}
	s.show(w, p)
}

func (s *Service) returned(w http.ResponseWriter, r *http.Request) (page, error) {
	c, ok := s.provider(r.PathValue("provider"))
	if !ok || len(r.URL.RawQuery) > maxQuery {
		return gonePage(), nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !once(query, "state", "code", "iss", "error") || query.Get("state") == "" {
		return gonePage(), nil
	}
	f, err := s.claimState(r, c, query.Get("state"))
	switch {
	case errors.Is(err, errNoFlow):
		return gonePage(), nil
	case err != nil:
		return page{}, err
	}
	http.SetCookie(w, s.cookie(f.id(), "", -1))
	// Whoever answers in another's name is told nothing (RFC 9207).
	if iss, there := query["iss"]; c.Issuer != "" && (there && iss[0] != c.Issuer || !there && c.RequireIssuer) {
		s.o.Log.Warn("a callback names another issuer", "provider", c.Name)
		return page{status: http.StatusBadRequest, Title: "That did not work", Text: "The answer does not come from " + c.Title + ". Nothing is connected."}, nil
	}
	if code := query.Get("error"); code != "" {
		return s.denied(r.Context(), f, c, code)
	}
	if code := query.Get("code"); code == "" || !plainToken(code) {
		return gonePage(), nil
	}
	return s.exchanged(r.Context(), f, c, query.Get("code"))
}

// once reports whether no parameter is there twice (RFC 6749, 3.1).
func once(query url.Values, names ...string) bool {
	for _, name := range names {
		if len(query[name]) > 1 {
			return false
		}
	}
	return true
}

// claimState finds the attempt of a state and ends the state: of two callbacks
// one goes on. The browser must be the one in which it was begun.
func (s *Service) claimState(r *http.Request, c Configured, state string) (flow, error) {
	ctx := r.Context()
	kept, err := s.o.Vault.Flow(ctx, stateName(state))
	if errors.Is(err, credentials.ErrNone) {
		return flow{}, errNoFlow
	}
	if err == nil {
		err = s.o.Vault.TakeFlow(ctx, kept)
	}
	if errors.Is(err, credentials.ErrChanged) {
		return flow{}, errNoFlow
	}
	if err != nil {
		return flow{}, err
	}
	f, err := s.load(ctx, string(kept.Value))
	if err != nil {
		return flow{}, err
	}
	browser, err := r.Cookie(s.cookie(f.id(), "", 0).Name)
	switch {
	case kept.Owner != f.owner() || f.owner().Provider != c.Name,
		f.Stage != stageOpen, !equal(f.State, hashed(state)), s.o.Now().After(f.StateUntil),
		err != nil, !equal(f.Browser, hashed(browser.Value)):
		return flow{}, errNoFlow
	}
	verifier := f.Verifier
	f.State, f.Browser, f.Verifier = "", "", ""
	if f, err = s.save(ctx, f); errors.Is(err, credentials.ErrChanged) {
		return flow{}, errNoFlow // begun anew at this moment
	}
	f.Verifier = verifier
	return f, err
}

// denied is a callback with an error.
func (s *Service) denied(ctx context.Context, f flow, c Configured, code string) (page, error) {
	f.Verifier = ""
	if code == "access_denied" {
		if _, err := s.refuse(ctx, f, nil); err != nil {
			return page{}, err
		}
		return page{Title: "Nothing is connected", Text: "You, or " + c.Title + ", did not allow it, and the bot knows. You can close this page."}, nil
	}
	if !knownCodes[code] {
		code = "an error that is not known here"
	}
	s.o.Log.Warn("a provider answered with an error", "provider", c.Name, "code", code)
	return page{status: http.StatusBadGateway, Title: "That did not work", Text: c.Title + " answered with an error (" + code + "). Nothing is connected. Go back to Slack and open the link again."}, nil
}

// exchanged turns the code into a token, which nobody can use before its code was
// entered in Slack.
func (s *Service) exchanged(ctx context.Context, f flow, c Configured, code string) (page, error) {
	// From here on there may be a token: a browser that goes away does not leave
	// it lying.
	ctx = context.WithoutCancel(ctx)
	failed := func(err error) (page, error) {
		s.o.Log.Warn("a connection was not made", "provider", c.Name, "error", err)
		return page{status: http.StatusBadGateway, Title: "That did not work", Text: c.Title + " did not answer as it should. Nothing is connected. Go back to Slack and open the link again."}, nil
	}
	got, err := s.wire.exchange(ctx, c, s.o.PublicURL, code, f.Verifier, s.wanted(ctx, c, f.owner(), f.Asked))
	if err != nil {
		return failed(err)
	}
	whose, err := s.wire.whose(ctx, c, got.access)
	if err != nil {
		s.drop(ctx, c, got.access, got.refresh)
		return failed(err)
	}
	f.take(got, whose)
	f.Verifier, f.Stage, f.Code, f.Tries, f.Next = "", stagePending, newCode(), 0, s.o.Now().Add(codeTime)
	shown := f.Code
	if f, err = s.save(ctx, f); err != nil {
		s.drop(ctx, c, got.access, got.refresh)
		if errors.Is(err, credentials.ErrChanged) {
			return gonePage(), nil
		}
		return page{}, err
	}
	p := s.named(ctx, f)
	p.Kind, p.Title, p.Code = "code", "One more step", showCode(shown)
	return p, nil
}
