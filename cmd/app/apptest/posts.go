package apptest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"reeve/slackapp/simulator"
)

// Posted waits until the bot has posted n messages in a thread, and answers
// them.
func (p *Place) Posted(t testing.TB, channel, thread string, n int) []simulator.Message {
	t.Helper()
	var posts []simulator.Message
	p.Until(t, "posts of the bot", func() bool {
		posts = p.Posts(channel, thread)
		return len(posts) >= n
	})
	return posts
}

// Posts are the bot's posts in a thread, or with an empty thread those that are
// no replies.
func (p *Place) Posts(channel, thread string) []simulator.Message {
	var posts []simulator.Message
	own := simulator.ByBot(channel, thread)
	for _, m := range p.Slack.Messages(channel, thread) {
		if own(m) {
			posts = append(posts, m)
		}
	}
	return posts
}

// Texts are what the posts in a thread show.
func (p *Place) Texts(channel, thread string) []string {
	var texts []string
	for _, m := range p.Posts(channel, thread) {
		texts = append(texts, strings.TrimSpace(ShownText(m)))
	}
	return texts
}

// Answered waits until the bot has posted in a thread as often as it should, and
// wants its posts to show just that.
func (p *Place) Answered(t testing.TB, channel, thread string, want ...string) {
	t.Helper()
	var got []string
	err := p.Wait(Patience, func() bool {
		got = p.Texts(channel, thread)
		return len(got) >= len(want)
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("posted %q, want %q (%v)", got, want, err)
	}
}

// Said waits until the bot has posted a text in a thread, whatever else it posts.
func (p *Place) Said(t testing.TB, channel, thread, text string) {
	t.Helper()
	p.Until(t, "the answer "+text, func() bool { return slices.Contains(p.Texts(channel, thread), text) })
}

// ShownText is what a post shows: its Markdown, or its text where it has none.
func ShownText(m simulator.Message) string {
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(m.Blocks, &blocks) == nil && len(blocks) == 1 && blocks[0].Type == "markdown" {
		return blocks[0].Text
	}
	return m.Text
}

// PartOf is the id by which a post of the outbox is known; empty for others.
func PartOf(m simulator.Message) string {
	var metadata struct {
		EventPayload struct {
			ID string `json:"id"`
		} `json:"event_payload"`
	}
	_ = json.Unmarshal(m.Metadata, &metadata)
	return metadata.EventPayload.ID
}

// TurnOf is the turn whose post it is; empty for others.
func TurnOf(m simulator.Message) string {
	turn, _, _ := strings.Cut(PartOf(m), "/")
	return turn
}
