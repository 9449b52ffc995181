package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

type forgetIn struct {
	Memories []named `json:"memories,omitempty" jsonschema:"which, as recall has told them; at most 20"`
	About    string  `json:"about,omitempty" jsonschema:"instead: what the one memory is about"`
	// BringBack undoes it.
	BringBack bool `json:"bring_back,omitempty" jsonschema:"true: bring back what was forgotten less than 24 hours ago"`
}

// named is a memory by its id. The topic is for the person who is asked, to whom
// an id says nothing: it has to be the memory's own.
type named struct {
	ID    string `json:"id"`
	Topic string `json:"topic" jsonschema:"its topic, letter for letter"`
}

// mostNamed is how many one call may name: its person reads all of them.
const mostNamed = 20

func (p *Plugin) forget(ctx context.Context, call plugins.Call, in forgetIn) (plugins.Result, error) {
	own, ok := Personal(call.Actor)
	if !ok {
		return refused("This turn acts for no person. " + ownMessage), nil
	}
	owners := []Owner{own}
	if o, ok := Shared(call.Conversation); ok && call.Visibility == chat.Public {
		owners = append(owners, o) // any member may
	}
	ids, problem, err := p.meant(ctx, owners, call.Key, in)
	if err != nil || problem != "" {
		return refused(problem), err
	}
	var changed []Memory
	for _, o := range owners {
		var some []Memory
		if in.BringBack {
			some, err = p.options.Store.Restore(ctx, o, p.services.Now(), ids...)
		} else {
			some, err = p.options.Store.Forget(ctx, o, p.services.Now(), Forgetter{Call: call.Key, Asked: call.Allowed()}, ids...)
		}
		if errors.Is(err, errOneATurn) {
			return refused("This was left undone: something was forgotten in this turn already. To have several forgotten name them in one call, about which the person is asked, or point them to the bot's home tab in Slack."), nil
		}
		if err != nil {
			return plugins.Result{}, err
		}
		changed = append(changed, some...)
	}
	switch {
	case len(changed) == 0:
		return refused("There is no such memory of the person you act for, nor of this channel."), nil
	case in.BringBack:
		return plugins.Result{Text: fmt.Sprintf("%d brought back.", len(changed)), DM: "Brought back:\n\n" + list(changed)}, nil
	}
	return plugins.Result{
		Text: fmt.Sprintf("%d forgotten. The person was told which by direct message; for 24 hours it can be undone.", len(changed)),
		DM:   "Forgotten; ask me within 24 hours to bring it back:\n\n" + list(changed),
	}, nil
}

// meant are the memories that a call names or describes, among those that can be
// forgotten or, to be brought back, among those that were. What the same call has
// forgotten before a crash is still meant.
func (p *Plugin) meant(ctx context.Context, owners []Owner, key string, in forgetIn) (ids []string, problem string, err error) {
	if len(in.Memories) > mostNamed {
		return nil, fmt.Sprintf("Name %d memories at most in one call.", mostNamed), nil
	}
	var all []Memory
	topics := map[string]string{}
	now := p.services.Now()
	for _, o := range owners {
		some, err := p.options.Store.All(ctx, o)
		if err != nil {
			return nil, "", err
		}
		for _, m := range some {
			if in.BringBack && m.returns(now) || !in.BringBack && (m.holds(now) || m.ForgottenBy == key && m.returns(now)) {
				all = append(all, m)
				topics[m.ID] = m.Topic
			}
		}
	}
	for _, m := range in.Memories {
		topic, ok := topics[m.ID]
		if !ok || normal(topic) != normal(m.Topic) {
			return nil, "There is no memory with the id and the topic that you named, of the person you act for or of this channel. Look it up with recall, and copy both.", nil
		}
		ids = append(ids, m.ID)
	}
	if len(ids) > 0 {
		return ids, "", nil
	}
	fitting := rank(in.About, all)
	switch {
	case len(fitting) == 0:
		return nil, "Nothing of that is remembered.", nil
	case len(fitting) > 1 && alike(in.About, fitting[0].Topic) < sameTopic:
		return nil, "Several memories fit. Say which by their ids and topics:\n" + strings.Join(listed("remembered", fitting), "\n"), nil
	}
	return []string{fitting[0].ID}, "", nil
}
