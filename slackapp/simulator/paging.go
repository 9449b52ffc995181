package simulator

import "strconv"

// maxPage is the most that a page of messages holds.
const maxPage = 999

// paged cuts a list by cursor and limit.
func paged[T any](list []T, a args, otherwise int) (page []T, next string, err error) {
	from := 0
	if cursor := a.get("cursor"); cursor != "" {
		at, err := decodeCursor(cursor)
		if err != nil {
			return nil, "", err
		}
		if from, err = strconv.Atoi(at); err != nil || from < 0 || from > len(list) {
			return nil, "", fail("invalid_cursor")
		}
	}
	limit, err := limitOf(a, otherwise)
	if err != nil {
		return nil, "", err
	}
	to := min(from+limit, len(list))
	if to < len(list) {
		next = encodeCursor(strconv.Itoa(to))
	}
	return append([]T{}, list[from:to]...), next, nil
}

func limitOf(a args, otherwise int) (int, error) {
	limit := a.number("limit", otherwise)
	if limit < 0 || (a.has("limit") && a.get("limit") != "" && limit > 1000) {
		return 0, fail("invalid_limit")
	}
	if limit == 0 {
		limit = otherwise
	}
	return min(limit, maxPage), nil
}

// within tells whether a ts is in the asked span.
func within(a args, ts string) bool {
	oldest, latest, inclusive := a.get("oldest"), a.get("latest"), a.yes("inclusive")
	if oldest != "" && oldest != "0" && (ts < oldest || (ts == oldest && !inclusive)) {
		return false
	}
	return latest == "" || ts < latest || (ts == latest && inclusive)
}

func (s *Server) pageMessage(c *Channel, m *Message, a args) map[string]any {
	out := s.wire(c, m)
	if !a.yes("include_all_metadata") {
		delete(out, "metadata")
	}
	return out
}

// conversationsHistory is the channel's top level, newest first.
func (s *Server) conversationsHistory(a args) (answer, error) {
	c, err := s.readable(a.get("channel"), "history")
	if err != nil {
		return nil, err
	}
	var found []*Message
	for i := len(c.messages) - 1; i >= 0; i-- {
		m := c.messages[i]
		if (!m.isReply() || m.Subtype == "thread_broadcast") && within(a, m.TS) {
			found = append(found, m)
		}
	}
	return s.messagePage(c, nil, found, a, 100)
}

// conversationsReplies is one thread, oldest first. Every page begins with the
// thread's root, which is outside the asked span too.
func (s *Server) conversationsReplies(a args) (answer, error) {
	c, err := s.readable(a.get("channel"), "history")
	if err != nil {
		return nil, err
	}
	root, _ := c.find(a.get("ts"))
	if root == nil {
		return nil, fail("thread_not_found")
	}
	var found []*Message
	if !root.isReply() {
		for _, m := range c.replies(root.TS) {
			if within(a, m.TS) {
				found = append(found, m)
			}
		}
	}
	return s.messagePage(c, root, found, a, 1000)
}

// messagePage cuts found by a cursor that names the next message, so that what
// is posted between two pages moves nothing.
func (s *Server) messagePage(c *Channel, root *Message, found []*Message, a args, otherwise int) (answer, error) {
	limit, err := limitOf(a, otherwise)
	if err != nil {
		return nil, err
	}
	if root != nil {
		limit = max(limit-1, 1)
	}
	from := 0
	if cursor := a.get("cursor"); cursor != "" {
		at, err := decodeCursor(cursor)
		if err != nil {
			return nil, err
		}
		for from < len(found) && ((root != nil && found[from].TS < at) || (root == nil && found[from].TS > at)) {
			from++
		}
	}
	page := []map[string]any{}
	if root != nil {
		page = append(page, s.pageMessage(c, root, a))
	}
	to, next := min(from+limit, len(found)), ""
	for _, m := range found[from:to] {
		page = append(page, s.pageMessage(c, m, a))
	}
	if to < len(found) {
		next = encodeCursor(found[to].TS)
	}
	return answer{"messages": page, "has_more": next != "", "response_metadata": cursorOf(next)}, nil
}
