package slackapp

import (
	"context"

	"github.com/slack-go/slack"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Person implements plugins.Slack. Slack shows a workspace's directory to its
// full members, and so does this; a guest sees himself.
func (r reader) Person(ctx context.Context, user chat.UserID) (plugins.SlackPerson, error) {
	if !r.actor.IsPerson() || !r.opts.Self.home(string(r.actor.Team)) {
		return plugins.SlackPerson{}, refusedLookup
	}
	if !isUserID(string(user)) {
		return plugins.SlackPerson{}, refusedPerson
	}
	if user != r.actor.User {
		own, err := r.ask(ctx, r.actor.User)
		if err != nil {
			return plugins.SlackPerson{}, err
		}
		if a := r.account(own); a.Guest || a.External || a.Stranger || a.Deleted {
			return plugins.SlackPerson{}, refusedLookup
		}
	}
	u, err := r.ask(ctx, user)
	if err != nil {
		return plugins.SlackPerson{}, err
	}
	a := r.account(u)
	if a.External || a.Stranger || a.Unknown {
		return plugins.SlackPerson{}, refusedPerson
	}
	return plugins.SlackPerson{
		ID: user, Name: a.Name, RealName: u.RealName, Title: u.Profile.Title, Zone: a.Zone,
		Bot: a.Bot, Guest: a.Guest, Deactivated: a.Deleted,
	}, nil
}

func (r reader) ask(ctx context.Context, user chat.UserID) (u *slack.User, err error) {
	if err := r.call(ctx, callUser, func() (err error) {
		u, err = r.opts.Client.GetUserInfoContext(ctx, string(user))
		return err
	}); err != nil {
		return nil, r.denied(ctx, callUser, err, refusedPerson)
	}
	return u, nil
}

// account is an account by the same reading as that of those who instruct.
func (r reader) account(u *slack.User) account {
	return r.opts.People.read(u, chat.Person(r.opts.Self.Team, chat.UserID(u.ID)))
}
