package agent

import (
	"encoding/json"
	"regexp"
	"slices"

	"reeve/runtime/chat"
)

// results are the results of each answer's calls.
type results struct {
	of     map[int]map[string]chat.Entry // by the answer's index and the call's id
	placed map[int]bool                  // the indices of the results in it
}

// resultsByCall pairs results with the latest answer before them, if it made
// their call.
func resultsByCall(entries []chat.Entry) results {
	found, answer := results{map[int]map[string]chat.Entry{}, map[int]bool{}}, -1
	for i, e := range entries {
		switch {
		case e.Role == chat.AssistantRole:
			answer = i
			found.of[i] = map[string]chat.Entry{}
		case e.Role == chat.ToolRole && answer >= 0 && made(entries[answer], e.CallID):
			if _, twice := found.of[answer][e.CallID]; !twice {
				found.of[answer][e.CallID] = e
				found.placed[i] = true
			}
		}
	}
	return found
}

func made(answer chat.Entry, call string) bool {
	return slices.ContainsFunc(answer.Calls, func(c chat.ToolCall) bool { return c.ID == call })
}

var callName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// sendable is a call that every provider takes back: some refuse a whole
// request, and with it the turn, for a name or for arguments that the model
// itself wrote. What was wrong with them stands in the call's result.
func sendable(c chat.ToolCall) chat.ToolCall {
	if !callName.MatchString(c.Tool) {
		c.Tool = "unknown_tool"
	}
	var object map[string]any
	if json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil {
		c.Arguments = "{}"
	}
	return c
}
