package simulator

import (
	"fmt"
	"slices"
	"time"
)

// Twin says which of the two events of a mention in a channel are sent, and in
// which order. Slack sends both and promises no order.
type Twin int

const (
	MessageFirst Twin = iota // then app_mention
	MentionFirst
	MessageOnly
	MentionOnly
)

// SayOptions are what a post has beside its text.
type SayOptions struct {
	// Thread is the ts of the message below which it is posted.
	Thread string
	// Broadcast: the reply is shown in the channel too.
	Broadcast bool
	// Subtype such as "me_message"; empty for plain messages. Files make
	// "file_share" and Broadcast makes "thread_broadcast" without it.
	Subtype string
	Files   []NewFile
	// Attachments is a JSON list: forwards, unfurls.
	Attachments string
	// Metadata is what an app puts beside its post, a JSON object; nobody can
	// write any in his client.
	Metadata string
	// Twin and TwinDelay say how a mention's two events come.
	Twin      Twin
	TwinDelay time.Duration
	// Author overrides who Slack says wrote it; see As... functions.
	Author Author
	// Quiet: no event is sent, as for messages before the bot's time.
	Quiet bool
}

// Say is a person writing in his Slack client. Text is as Slack puts it on the
// wire: see Typed. It returns the message's ts. Saying something where the
// person cannot is a mistake of the test and panics.
func (s *Server) Say(user, channel, text string, options ...SayOptions) string {
	ts, err := s.TrySay(user, channel, text, options...)
	if err != nil {
		panic(err)
	}
	return ts
}

// TrySay is Say with an error instead of a panic.
func (s *Server) TrySay(user, channel, text string, options ...SayOptions) (ts string, err error) {
	var o SayOptions
	if len(options) > 0 {
		o = options[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.mayWrite(user, channel, o)
	if err != nil {
		return "", err
	}
	m := &Message{Channel: channel, Text: text, Subtype: o.Subtype, Attachments: rawOrNil(o.Attachments), Metadata: rawOrNil(o.Metadata)}
	if o.Thread != "" {
		parent, _ := c.find(o.Thread)
		if parent == nil || parent.isReply() {
			return "", fmt.Errorf("say in thread %s of %s: no such thread", o.Thread, channel)
		}
		m.ThreadTS = o.Thread
	}
	s.stamp(m, user, c, o.Author)
	for _, f := range o.Files {
		m.Files = append(m.Files, s.storeFile(user, channel, f))
	}
	switch {
	case m.Subtype != "":
	case len(m.Files) > 0:
		m.Subtype = "file_share"
	case o.Broadcast && m.ThreadTS != "":
		m.Subtype = "thread_broadcast"
	}
	if text != "" && m.BotID == "" {
		m.Blocks = richText(text)
	}
	s.post(c, m, &o)
	return m.TS, nil
}

func (s *Server) mayWrite(user, channel string, o SayOptions) (*Channel, error) {
	c := s.world.Channels[channel]
	if c == nil {
		return nil, fmt.Errorf("say in %s: no such channel", channel)
	}
	if user == "" && o.Author != (Author{}) {
		return c, nil
	}
	if _, ok := s.world.Users[user]; !ok {
		return nil, fmt.Errorf("say as %s: no such user", user)
	}
	if !c.has(user) {
		return nil, fmt.Errorf("say as %s in %s: not a member", user, channel)
	}
	return c, nil
}

// post gives the message its ts, stores it and sends its events. The lock is
// held.
func (s *Server) post(c *Channel, m *Message, o *SayOptions) {
	m.TS = s.nextTS()
	c.messages = append(c.messages, m)
	s.record(Event{Kind: MessagePosted, Message: m.clone()})
	for i := range m.Files {
		s.record(Event{Kind: FileShared, File: &m.Files[i], Message: m.clone()})
	}
	if o == nil {
		o = &SayOptions{}
	}
	if !o.Quiet {
		s.emitPost(c, m, *o)
	}
}

// Edit is the author changing the text of his message.
func (s *Server) Edit(user, channel, ts, text string) bool {
	return s.withMessage(channel, ts, func(c *Channel, m *Message) bool {
		if m.Subtype == "tombstone" {
			return false
		}
		before := m.clone()
		m.Text, m.Edited = text, &Edited{User: user, TS: s.nextTS()}
		if m.BotID == "" {
			m.Blocks = richText(text)
		}
		s.changed(c, m, before)
		if mentions(text, s.world.Bot.UserID) && !m.own && c.Kind != DirectMessage {
			s.emitMention(c, m)
		}
		return true
	})
}

// Unfurl gives a message an attachment, as Slack does for its links, which
// changes the message and not its text.
func (s *Server) Unfurl(channel, ts, attachments string) bool {
	return s.withMessage(channel, ts, func(c *Channel, m *Message) bool {
		before := m.clone()
		m.Attachments = rawOrNil(attachments)
		s.changed(c, m, before)
		return true
	})
}

// Touch sends a message_changed in which nothing changed, as Slack does for
// thread counters and bots' metadata.
func (s *Server) Touch(channel, ts string) bool {
	return s.withMessage(channel, ts, func(c *Channel, m *Message) bool {
		s.changed(c, m, m.clone())
		return true
	})
}

// changed records and sends a message_changed. The lock is held.
func (s *Server) changed(c *Channel, m, before *Message) {
	s.record(Event{Kind: MessageChanged, Message: m.clone(), Previous: before})
	s.emitSubtype(c, "message_changed", map[string]any{
		"message": s.wire(c, m), "previous_message": s.wire(c, before),
	})
}

// Delete removes a message, whoever does it: Slack does not say. One with
// replies leaves a tombstone behind.
func (s *Server) Delete(channel, ts string) bool {
	return s.withMessage(channel, ts, func(c *Channel, m *Message) bool {
		if m.Subtype == "tombstone" {
			return false
		}
		s.remove(c, m)
		return true
	})
}

func (s *Server) remove(c *Channel, m *Message) {
	before := m.clone()
	s.record(Event{Kind: MessageDeleted, Previous: before, Message: before})
	if len(c.replies(m.TS)) > 0 {
		previous := s.wire(c, before)
		*m = Message{
			Channel: c.ID, TS: m.TS, ThreadTS: m.TS, Subtype: "tombstone", User: "USLACKBOT", Text: "This message was deleted.",
		}
		wire := s.wire(c, m)
		wire["hidden"] = true
		s.emitSubtype(c, "message_changed", map[string]any{"message": wire, "previous_message": previous})
		return
	}
	previous := s.wire(c, before)
	_, i := c.find(m.TS)
	c.messages = slices.Delete(c.messages, i, i+1)
	s.emitSubtype(c, "message_deleted", map[string]any{"deleted_ts": m.TS, "previous_message": previous})
}
