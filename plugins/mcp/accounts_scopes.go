package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// A server may want more rights for a call than its file says. Whom it refused for
// want of them is asked for them when the call is made again, in the same turn, and
// nobody else is, ever: what was wanted stands in his own store, where each replica
// finds it. In a later turn the server has to say so anew, so that a scope which is
// not granted, or not needed after all, does not stand in the way for good.

// need is what a server has wanted of somebody's account for a tool, in a turn.
type need struct {
	Server string      `json:"server"`
	Tool   string      `json:"tool"`
	Turn   chat.TurnID `json:"turn"`
	Scopes []string    `json:"scopes"`
}

const (
	needsKey = "scopes"
	// maxNeeds is how many are remembered of a person, the newest: few turns of his
	// are open at a time.
	maxNeeds = 32
)

func needs(ctx context.Context, store plugins.Store) ([]need, error) {
	data, is, err := store.Get(ctx, needsKey)
	if err != nil || !is {
		return nil, err
	}
	var list []need
	if json.Unmarshal(data, &list) != nil {
		return nil, nil // another release's: the server says it again
	}
	return list, nil
}

// moreScopes are those that the server has wanted for this call, as far as the file
// lets them be asked for.
func (s *server) moreScopes(ctx context.Context, call plugins.Call, tool string) ([]string, error) {
	if call.Store == nil {
		return nil, nil
	}
	list, err := needs(ctx, call.Store)
	if err != nil {
		return nil, err
	}
	allowed := s.allowedScopes(tool)
	var more []string
	for _, n := range list {
		if n.Server != s.config.id || n.Tool != tool || n.Turn != call.Turn {
			continue
		}
		for _, scope := range n.Scopes {
			if slices.Contains(allowed, scope) {
				more = append(more, scope)
			}
		}
	}
	return more, nil
}

// allowedScopes are all that people may be asked for because of a tool.
func (s *server) allowedScopes(tool string) []string {
	return slices.Concat(s.config.oauth.Scopes, s.config.oauth.MoreScopes, s.config.tools[tool].Scopes)
}

// stepUp has the call ask for more scopes when it is made again, if the operator
// lets it. What the account has granted already is not asked for again: the server
// would go on refusing it.
func (s *server) stepUp(ctx context.Context, call plugins.Call, tool string, wanted []string) plugins.Result {
	const notMade = "The call was not made: the MCP server %s wants more rights for it than the account of the person for whom you act has granted"
	allowed := s.allowedScopes(tool)
	var lacking []string
	for _, scope := range wanted {
		if !slices.Contains(allowed, scope) {
			s.log.Warn("the MCP server wants a scope that the file does not allow", "tool", line(tool), "scope", line(scope))
			return failed(notMade+", and more than it may be asked for here. Only whoever runs the bot can change that.", s.config.name)
		}
		if !slices.Contains(call.Account.Scopes, scope) && !slices.Contains(lacking, scope) {
			lacking = append(lacking, scope)
		}
	}
	switch {
	case len(wanted) == 0:
		return failed(notMade+", and does not say which.", s.config.name)
	case len(lacking) == 0:
		return failed("The call was not made: the MCP server %s refuses it for want of rights (%s) that the account of the person for whom you act has granted already. Asking again would not help.", s.config.name, strings.Join(wanted, ", "))
	}
	if err := s.need(ctx, call, tool, lacking); err != nil {
		s.log.Error("what the MCP server wants of an account cannot be kept", "tool", line(tool), "turn", call.Turn, "err", err)
		return failed(notMade+" (%s). The person cannot be asked for them now.", s.config.name, strings.Join(lacking, ", "))
	}
	return failed(notMade+" (%s). If it is still wanted, make the call again: the person is then asked for them.", s.config.name, strings.Join(lacking, ", "))
}

// need remembers what the server wants. Two calls of one answer may come at once;
// two turns of a person in two processes may lose one another's, which is asked
// for again.
func (s *server) need(ctx context.Context, call plugins.Call, tool string, scopes []string) error {
	if call.Store == nil {
		return fmt.Errorf("keep it for %s: there is no store", call.Actor.Key())
	}
	s.hub.needing.Lock()
	defer s.hub.needing.Unlock()
	list, err := needs(ctx, call.Store)
	if err != nil {
		return err
	}
	list = append(list, need{s.config.id, tool, call.Turn, scopes})
	data, err := json.Marshal(list[max(len(list)-maxNeeds, 0):])
	if err != nil {
		return err
	}
	return call.Store.Set(ctx, needsKey, data)
}
