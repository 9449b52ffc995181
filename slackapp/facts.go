package slackapp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/sync/singleflight"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// FactStore keeps facts for all replicas; the mailbox is one.
type FactStore interface {
	// Fact is what is kept of a person; nil when nothing is.
	Fact(ctx context.Context, who chat.Actor) ([]byte, error)
	KeepFact(ctx context.Context, who chat.Actor, fact []byte, ttl time.Duration) error
}

// How long facts are believed: those of a person who may instruct, and others,
// which somebody may just be putting right.
const (
	factsFor    = time.Hour
	negativeFor = 5 * time.Minute
)

// FactsOptions are what PeopleFacts is made of.
type FactsOptions struct {
	Client *slack.Client
	Store  FactStore // may be nil
	Self   Identity
	// AllowGuests and AllowExternal are the operator's policy.
	AllowGuests, AllowExternal bool
	Log                        *slog.Logger
}

// PeopleFacts looks up what Slack says of people's accounts.
type PeopleFacts struct {
	opts  FactsOptions
	cache *expiring[chat.Actor, account]
	one   singleflight.Group
}

// NewPeopleFacts makes a PeopleFacts.
func NewPeopleFacts(o FactsOptions) *PeopleFacts {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &PeopleFacts{opts: o, cache: newExpiring[chat.Actor, account](20_000)}
}

// account is what is kept of a person: Slack's marks, and no judgement, so that
// another policy judges anew.
type account struct {
	V        int    `json:"v"`
	Name     string `json:"name,omitempty"`
	Zone     string `json:"zone,omitempty"`
	Unknown  bool   `json:"unknown,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"`
	Bot      bool   `json:"bot,omitempty"`
	Guest    bool   `json:"guest,omitempty"`
	Stranger bool   `json:"stranger,omitempty"`
	External bool   `json:"external,omitempty"`
}

// Known is what this process knows without asking anybody.
func (p *PeopleFacts) Known(who chat.Actor) (runtime.Facts, bool) {
	a, ok := p.cache.get(who)
	if !ok {
		return runtime.Facts{}, false
	}
	return p.judge(a), true
}

// Name is a person's display name when it is known already.
func (p *PeopleFacts) Name(user chat.UserID) string {
	a, _ := p.cache.get(chat.Person(p.opts.Self.Team, user))
	return a.Name
}

// Facts looks a person up: in this process, in the store, at Slack. Concurrent
// questions about one person are asked once.
func (p *PeopleFacts) Facts(ctx context.Context, who chat.Actor) (runtime.Facts, error) {
	if !who.IsPerson() {
		return runtime.Facts{Standing: chat.ContextOnly, Why: "an account that is no person's"}, nil
	}
	if a, ok := p.cache.get(who); ok {
		return p.judge(a), nil
	}
	answer := p.one.DoChan(who.Key(), func() (any, error) {
		// Not the first caller's context: others wait for the answer too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		return p.find(ctx, who)
	})
	select {
	case <-ctx.Done():
		return runtime.Facts{}, fmt.Errorf("look up %s: %w", who.Key(), ctx.Err())
	case r := <-answer:
		if r.Err != nil {
			return runtime.Facts{}, r.Err
		}
		return p.judge(r.Val.(account)), nil
	}
}

// find asks the store and then Slack.
func (p *PeopleFacts) find(ctx context.Context, who chat.Actor) (account, error) {
	if p.opts.Store != nil {
		raw, err := p.opts.Store.Fact(ctx, who)
		var a account
		switch {
		case err != nil:
			p.opts.Log.Warn("facts not read from the store", "actor", who.Key(), "err", err)
		case len(raw) > 0 && json.Unmarshal(raw, &a) == nil && a.V == 1:
			// The store may have kept it for nearly as long already.
			p.cache.put(who, a, negativeFor)
			return a, nil
		}
	}
	a, err := p.ask(ctx, who)
	if err != nil {
		return account{}, fmt.Errorf("look up %s: %w", who.Key(), err)
	}
	ttl := negativeFor
	if p.judge(a).Standing == chat.MayInstruct {
		ttl = factsFor
	}
	p.cache.put(who, a, ttl)
	if raw, err := json.Marshal(a); err == nil && p.opts.Store != nil {
		if err := p.opts.Store.KeepFact(ctx, who, raw, ttl); err != nil {
			p.opts.Log.Warn("facts not kept in the store", "actor", who.Key(), "err", err)
		}
	}
	return a, nil
}

// ask asks Slack, and waits once where it limits the rate for a short while.
func (p *PeopleFacts) ask(ctx context.Context, who chat.Actor) (account, error) {
	for tries := 0; ; tries++ {
		u, err := p.opts.Client.GetUserInfoContext(ctx, string(who.User))
		if err == nil {
			return p.read(u, who), nil
		}
		f := judge(err)
		switch {
		case f.kind == failForGood: // user_not_found and its like
			return account{V: 1, Unknown: true}, nil
		case f.kind == failLimited && tries == 0 && f.wait <= 5*time.Second:
			if err := pause(ctx, f.wait); err != nil {
				return account{}, err
			}
			continue
		}
		return account{}, err
	}
}

// Email is the address in a person's profile, asked of Slack each time; empty
// where there is none, or where Slack says that it is not confirmed.
func (p *PeopleFacts) Email(ctx context.Context, who chat.Actor) (string, error) {
	if !who.IsPerson() || !p.opts.Self.home(string(who.Team)) {
		return "", nil
	}
	u, err := p.opts.Client.GetUserInfoContext(ctx, string(who.User))
	switch {
	case err != nil && judge(err).kind == failForGood:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look up the address of %s: %w", who.Key(), err)
	case u.ID != string(who.User) || u.Deleted || u.IsBot || !u.IsEmailConfirmed:
		return "", nil
	}
	return u.Profile.Email, nil
}

func (p *PeopleFacts) read(u *slack.User, who chat.Actor) account {
	a := account{
		V: 1, Name: u.Profile.DisplayName, Zone: u.TZ, Deleted: u.Deleted,
		Bot:   u.IsBot || u.IsWorkflowBot || u.IsConnectorBot || u.ID == "USLACKBOT",
		Guest: u.IsRestricted || u.IsUltraRestricted, Stranger: u.IsStranger,
	}
	if a.Name == "" {
		a.Name = u.RealName
	}
	if _, err := time.LoadLocation(a.Zone); err != nil || a.Zone == "Local" {
		a.Zone = ""
	}
	sameOrg := p.opts.Self.Enterprise != "" && u.Enterprise.EnterpriseID == p.opts.Self.Enterprise
	a.External = who.Team != p.opts.Self.Team && !p.opts.Self.home(string(who.Team)) ||
		u.TeamID != "" && !p.opts.Self.home(u.TeamID) && !sameOrg
	a.Unknown = u.ID != "" && u.ID != string(who.User)
	return a
}

// judge says what the policy makes of an account.
func (p *PeopleFacts) judge(a account) runtime.Facts {
	f := runtime.Facts{Name: a.Name, Zone: a.Zone, Standing: chat.MayInstruct}
	switch {
	case a.Unknown:
		f.Why = "an account that Slack does not know"
	case a.Deleted:
		f.Why = "a deactivated account"
	case a.Bot:
		f.Why = "an app's account"
	case a.Stranger:
		f.Why = "an account that shares no channel with me"
	case a.External && !p.opts.AllowExternal:
		f.Why = "another organisation's account"
	case a.Guest && !p.opts.AllowGuests:
		f.Why = "a guest account"
	}
	if f.Why != "" {
		f.Standing = chat.ContextOnly
	}
	return f
}

// pause waits, or says why it did not.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
