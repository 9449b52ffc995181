package plugintest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Accounts says which account each person has at the provider of a tool that
// wants one. Without it everybody has one that is named by his id.
func Accounts(of func(person chat.Actor) (id, name string)) Option {
	return func(o *options) { o.accounts = of }
}

// ProviderHosts are the hosts that accounts and apps reach, as a provider's data
// names them. Without it they reach any.
func ProviderHosts(hosts ...string) Option {
	return func(o *options) { o.providerHosts = hosts }
}

// Apps names places where the bot has rights of its own, such as the owner of
// repositories, which holds for what is below it ("acme/app") too. Without it
// there are none.
func Apps(places ...string) Option { return func(o *options) { o.apps = places } }

// RightsOf says with whose rights a request came to the handler of Serve: with
// those of a person's account, or with the bot's own in a place. Both are zero
// for one that came with nobody's.
func RightsOf(r *http.Request) (account chat.Actor, app string) {
	kind, whose, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), " ")
	switch kind {
	case accountRights:
		account, _ = chat.ParseActor(whose)
	case appRights:
		app = whose
	}
	return account, app
}

const (
	accountRights = "account"
	appRights     = "app"
)

func anyAccount(person chat.Actor) (id, name string) {
	return "id-of-" + person.Key(), strings.ToLower(string(person.User))
}

// spending is what one call does with the rights that it is given, and what of
// it no plugin may do.
type spending struct {
	reads bool

	mu    sync.Mutex
	over  bool
	asked bool // the account, for anything
	fault error
}

var (
	errOver = errors.New("the call is over, and with it the account's client")
	errRead = errors.New("a tool that reads sends GET and HEAD with an account")
)

// account is what a call of a tool is given for its actor, and how it ends. The
// end's error is what no plugin may do.
func (h *Host) account(tool plugins.Tool, actor chat.Actor) (*plugins.Account, func() error) {
	if !tool.Account {
		return nil, func() error { return nil }
	}
	s := &spending{reads: tool.Access == plugins.Read}
	account := &plugins.Account{HTTP: h.spend(s, accountRights, actor.Key())}
	account.ID, account.Name = h.options.accounts(actor)
	if !s.reads {
		account.App = func(ctx context.Context, place string) (*http.Client, bool, error) {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			if !slices.ContainsFunc(h.options.apps, func(there string) bool { return covers(there, place) }) {
				return nil, false, nil
			}
			return h.spend(s, appRights, place), true, nil
		}
	}
	return account, s.end
}

func covers(there, place string) bool {
	return strings.EqualFold(there, place) || len(place) > len(there) && place[len(there)] == '/' && strings.EqualFold(there, place[:len(there)])
}

func (h *Host) spend(s *spending, kind, whose string) *http.Client {
	d := door{web: h.web, hosts: h.options.providerHosts, any: len(h.options.providerHosts) == 0}
	return &http.Client{Transport: rights{s, d, kind, whose}}
}

func (s *spending) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.fault
}

// may judges one request.
func (s *spending) may(kind, whose string, r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead
	switch {
	case s.over:
		return errOver
	case changes && s.reads:
		return errRead
	case changes && kind == appRights && !s.asked:
		s.fault = Fault{What: fmt.Sprintf("it sent %s %s with the bot's own rights at %s, and had not asked the person's account whether he may do that himself", r.Method, r.URL.Path, whose)}
		return s.fault
	}
	s.asked = s.asked || kind == accountRights
	return nil
}

// rights sends with somebody's rights, as long as its call lasts.
type rights struct {
	*spending
	door  door
	kind  string
	whose string
}

func (w rights) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := w.may(w.kind, w.whose, r); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.kind+" "+w.whose)
	return w.door.RoundTrip(r)
}
