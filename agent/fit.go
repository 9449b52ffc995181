package agent

import (
	"fmt"
	"slices"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// shortened is how much of an older result stays, in bytes, when a request
	// has grown too long, and of a result of an earlier turn always.
	shortened = 1024
	// stub is how much of it stays when that is not enough.
	stub = 160
	// smallest is what stays at least of a result of the last calls.
	smallest = 512
)

// trims cut a request down in their order until it fits. excess is how many
// bytes it has too many. The request and steers stay as they are.
var trims = []func(d draft, excess int) draft{
	func(d draft, excess int) draft { d.own = shorten(d.own, excess, shortened); return d },
	func(d draft, excess int) draft { d.own = shorten(d.own, excess, stub); return d },
	func(d draft, _ int) draft { d.share /= 2; return d },
	func(d draft, excess int) draft { d.own = leaveOutSteps(d.own, excess); return d },
	func(d draft, _ int) draft { d.share = 0; return d },
	func(d draft, excess int) draft { d.own = cutLast(d.own, excess); return d },
}

// shorten cuts results and the arguments of calls down, the oldest first, until
// about excess bytes are saved. Those of the last answer stay whole.
func shorten(entries []chat.Entry, excess, limit int) []chat.Entry {
	entries = slices.Clone(entries)
	for i := range entries[:lastAnswer(entries)] {
		if excess <= 0 {
			break
		}
		before := bytesOf(entries[i])
		entries[i] = cutDown(entries[i], limit)
		excess -= before - bytesOf(entries[i])
	}
	return entries
}

// cutDown is an entry with at most limit bytes of each piece that a tool or a
// model wrote beside the conversation.
func cutDown(e chat.Entry, limit int) chat.Entry {
	if e.Role == chat.ToolRole {
		e.Text = plugins.CutMiddle(e.Text, limit)
	}
	if slices.ContainsFunc(e.Calls, func(c chat.ToolCall) bool { return len(c.Arguments) > limit }) {
		e.Calls = slices.Clone(e.Calls)
		for i, c := range e.Calls {
			if len(c.Arguments) > limit { // cut in the middle they would be no JSON
				e.Calls[i].Arguments = fmt.Sprintf(`{"left_out":"%d bytes of arguments"}`, len(c.Arguments))
			}
		}
	}
	return e
}

// leaveOutSteps leaves out the oldest answers that ask for calls, each with its
// results, and says how many. The last one stays.
func leaveOutSteps(entries []chat.Entry, excess int) []chat.Entry {
	results, last := resultsByCall(entries), lastAnswer(entries)
	gone, first, left := map[int]bool{}, -1, 0
	answer := -1
	for i, e := range entries {
		switch {
		case e.Role == chat.AssistantRole:
			answer = i
			if i < last && len(e.Calls) > 0 && excess > 0 {
				gone[i], left = true, left+1
				if first < 0 {
					first = i
				}
			}
		case !results.placed[i] || !gone[answer]:
			continue
		default:
			gone[i] = true
		}
		if gone[i] {
			excess -= bytesOf(e)
		}
	}
	var kept []chat.Entry
	for i, e := range entries {
		if i == first {
			kept = append(kept, note(left))
		}
		if !gone[i] {
			kept = append(kept, e)
		}
	}
	return kept
}

func note(left int) chat.Entry {
	text := "1 earlier step of this turn, with its calls and results, is not shown."
	if left != 1 {
		text = fmt.Sprintf("%d earlier steps of this turn, with their calls and results, are not shown.", left)
	}
	return chat.Entry{Role: chat.UserRole, Origin: noteOrigin, Text: text}
}

// cutLast cuts the results of the last calls, the longest most, to make room.
func cutLast(entries []chat.Entry, excess int) []chat.Entry {
	entries = slices.Clone(entries)
	var last []int
	for i := lastAnswer(entries); i < len(entries); i++ {
		if entries[i].Role == chat.ToolRole {
			last = append(last, i)
		}
	}
	slices.SortFunc(last, func(a, b int) int { return len(entries[a].Text) - len(entries[b].Text) })
	for n, i := range last {
		// The short ones come first, and leave to the long ones what they cannot give.
		part := excess / (len(last) - n)
		before := len(entries[i].Text)
		entries[i].Text = plugins.CutMiddle(entries[i].Text, max(before-part, min(before, smallest)))
		excess -= before - len(entries[i].Text)
		if excess <= 0 {
			break
		}
	}
	return entries
}

// lastAnswer is where the last answer stands; 0 when there is none.
func lastAnswer(entries []chat.Entry) int {
	for i, e := range slices.Backward(entries) {
		if e.Role == chat.AssistantRole {
			return i
		}
	}
	return 0
}

func bytesOf(e chat.Entry) int {
	n := len(e.Text)
	for _, c := range e.Calls {
		n += len(c.Arguments)
	}
	return n
}
