package slackapp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// What a reader is told. The first is the same for a channel that is not there,
// one that he is not in and one that the bot is not in: who asks learns nothing
// of channels that he cannot see.
const (
	refusedChannel = plugins.Refusal("That channel cannot be read: there is none of that name or id in which both the person you act for and you are members.")
	refusedShared  = plugins.Refusal("That channel is shared with another organisation, and whoever runs this bot has not allowed it to read there.")
	refusedMessage = plugins.Refusal("There is no such message in that channel.")
	refusedPerson  = plugins.Refusal("There is no person with that id in this workspace.")
	refusedLookup  = plugins.Refusal("Only full members of this workspace may look people up.")
	refusedLimited = plugins.Refusal("Slack limits how often it may be asked, just now. Try again later in this turn, or do without.")
	refusedAway    = plugins.Refusal("Slack could not be asked just now. Do without, and say so.")
)

const (
	callMembers = "conversations.members"
	callUser    = "users.info"
)

// ReadingOptions are what Readings are made of.
type ReadingOptions struct {
	Client    *slack.Client
	Reader    *Reader
	Self      Identity
	Admission Admission
	People    *PeopleFacts
	Channels  *ChannelFacts
	// Rate and Burst are for each method; zero: about a third of what Slack
	// allows it.
	Rate  rate.Limit
	Burst int
	Log   *slog.Logger
}

// Readings reads in Slack with the bot's token for the people that turns work
// for, each only where he is a member himself. Membership is asked of Slack for
// every reading: nothing of it is kept.
type Readings struct {
	opts  ReadingOptions
	calls map[string]*rate.Limiter

	mu    sync.Mutex
	names map[string]chat.ChannelID // of the bot's channels
	until time.Time                 // when they are asked for again
}

// NewReadings makes Readings, whose readers share one rate.
func NewReadings(o ReadingOptions) *Readings {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	share := func(minute int) *rate.Limiter {
		if o.Rate > 0 {
			return rate.NewLimiter(o.Rate, max(o.Burst, 1))
		}
		return rate.NewLimiter(rate.Every(time.Minute/time.Duration(minute)), minute/2)
	}
	return &Readings{opts: o, calls: map[string]*rate.Limiter{
		callHistory: share(20), callReplies: share(20), callList: share(10), callMembers: share(40), callUser: share(40),
	}}
}

// For is Slack as the actor of one run may read it.
func (r *Readings) For(run plugins.Run) plugins.Slack { return reader{r, run.Actor} }

// reader reads for one person.
type reader struct {
	*Readings
	actor chat.Actor
}

// enter finds a channel and says who can read it, if the actor and the bot are
// members of it at this moment.
func (r reader) enter(ctx context.Context, channel string) (chat.ChannelID, chat.Visibility, error) {
	if !r.actor.IsPerson() {
		return "", "", refusedChannel
	}
	id, err := r.find(ctx, channel)
	if err != nil {
		return "", "", err
	}
	direct := strings.HasPrefix(string(id), "D")
	if allowed := r.opts.Admission.Channels; !direct && len(allowed) > 0 && !allowed[id] {
		return "", "", refusedChannel
	}
	if err := r.member(ctx, id); err != nil {
		return "", "", err
	}
	visibility, err := r.opts.Channels.Within(ctx, id, time.Minute)
	switch {
	case err != nil:
		return "", "", r.failed(ctx, "conversations.info", err)
	case visibility == chat.Shared && !r.opts.Admission.AllowExternal:
		return "", "", refusedShared
	}
	return id, visibility, nil
}

// membersPage and membersPages bound the search for two members of a channel:
// in one with more than some 40,000 nobody is found for sure, and nobody reads.
const (
	membersPage  = 900
	membersPages = 45
)

// member asks Slack whether the actor and the bot are members of a channel.
func (r reader) member(ctx context.Context, channel chat.ChannelID) error {
	actor, bot, cursor := false, false, ""
	for range membersPages {
		var page []string
		var next string
		if err := r.call(ctx, callMembers, func() (err error) {
			page, next, err = r.opts.Client.GetUsersInConversationContext(ctx, &slack.GetUsersInConversationParameters{
				ChannelID: string(channel), Cursor: cursor, Limit: membersPage,
			})
			return err
		}); err != nil {
			return r.denied(ctx, callMembers, err, refusedChannel)
		}
		for _, user := range page {
			actor = actor || user == string(r.actor.User)
			bot = bot || user == string(r.opts.Self.User)
		}
		if actor && bot {
			return nil
		}
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	return refusedChannel
}

// namesFor is how long the names of the bot's channels are believed. A name
// gives an id, and nothing that is checked by the id.
const namesFor = 2 * time.Minute

// find is the id of a channel that is named by its id or by its name.
func (r reader) find(ctx context.Context, channel string) (chat.ChannelID, error) {
	if isChannelID(channel) {
		return chat.ChannelID(channel), nil
	}
	name := strings.ToLower(strings.TrimPrefix(channel, "#"))
	r.mu.Lock()
	names, fresh := r.names, time.Now().Before(r.until)
	r.mu.Unlock()
	if !fresh {
		var err error
		if names, err = r.list(ctx); err != nil {
			return "", err
		}
		r.mu.Lock()
		r.names, r.until = names, time.Now().Add(namesFor)
		r.mu.Unlock()
	}
	if id, ok := names[name]; ok {
		return id, nil
	}
	return "", refusedChannel
}

// list asks for the names of the bot's channels.
func (r reader) list(ctx context.Context) (map[string]chat.ChannelID, error) {
	names, cursor := map[string]chat.ChannelID{}, ""
	for range 50 {
		var page []slack.Channel
		var next string
		if err := r.call(ctx, callList, func() (err error) {
			page, next, err = r.opts.Client.GetConversationsForUserContext(ctx, &slack.GetConversationsForUserParameters{
				Types: []string{"public_channel", "private_channel"}, Cursor: cursor, Limit: readPage, ExcludeArchived: true,
			})
			return err
		}); err != nil {
			return nil, r.failed(ctx, callList, err)
		}
		for _, c := range page {
			if validID(c.ID) && c.Name != "" {
				names[c.Name] = chat.ChannelID(c.ID)
			}
		}
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	return names, nil
}

// isChannelID: names are in lower case, so that none is taken for an id.
func isChannelID(s string) bool {
	return validID(s) && len(s) > 1 && strings.ContainsRune("CDG", rune(s[0])) && s == strings.ToUpper(s)
}

// call makes a call when the rate allows, and once more where Slack asks for a
// short wait.
func (r *Readings) call(ctx context.Context, method string, do func() error) error {
	for again := true; ; again = false {
		if err := r.calls[method].Wait(ctx); err != nil {
			return refusedLimited // the wait would last longer than the call may
		}
		err := do()
		if err == nil {
			return nil
		}
		if f := judge(err); f.kind != failLimited || f.wait > 5*time.Second || !again {
			return err
		} else if err := pause(ctx, f.wait); err != nil {
			return err
		}
	}
}

// denied is failed, with a sentence for what Slack refuses for good.
func (r reader) denied(ctx context.Context, method string, err error, refusal plugins.Refusal) error {
	switch judge(err).kind {
	case failForGood, failThread:
		return refusal
	}
	return r.failed(ctx, method, err)
}

// failed is what the model is told of a call that went wrong. Why it did is for
// the log.
func (r reader) failed(ctx context.Context, method string, err error) error {
	if refusal, ok := errors.AsType[plugins.Refusal](err); ok {
		return refusal
	}
	if ctx.Err() == nil {
		r.opts.Log.Warn("slack not read", "actor", r.actor.Key(), "method", method, "err", scrubbed(err))
	}
	if judge(err).kind == failLimited {
		return refusedLimited
	}
	return refusedAway
}
