// Package render turns the Markdown of an answer into what Slack is given.
//
// The Markdown comes from a model that anybody in a channel may have talked
// into something, so it is read as a document and written anew: only what this
// package writes on purpose reaches Slack as markup. On every rung of the
// ladder (a markdown block, mrkdwn text, plain text) these hold:
//
//   - nobody is pinged but the people whom the part names: <!channel> and its
//     like, user groups and foreign mentions become plain words, also where
//     they are spelled with entities, split over markup, or stand in code;
//   - a link has the scheme http, https or mailto, and where its text names
//     another host than its target, the target's host is shown too;
//   - an image is a link: Slack is never given an address to fetch.
//
// A token is disarmed by a word joiner (U+2060, no width) behind its first
// character, so that no reader, however it unescapes, finds the token.
package render

import (
	"strings"
	"unicode/utf8"

	"reeve/runtime/chat"
)

// Rung is one form of a post. Each is plainer than the one before.
type Rung int

const (
	// Markdown is one markdown block with a plain text beside it, for
	// notifications and screen readers.
	Markdown Rung = iota
	// Mrkdwn is text in Slack's own older markup, without blocks.
	Mrkdwn
	// Plain is text without any markup.
	Plain
	// Rungs is the number of rungs.
	Rungs int = iota
)

// Options are what a rendering depends on beside its text.
type Options struct {
	// Mentions are the people whose mention may ping.
	Mentions []chat.UserID
	// Name finds a person's display name, for a mention that may not ping;
	// empty when it is not known. It may be nil.
	Name func(chat.UserID) string
}

// Post is one rung, ready to be sent.
type Post struct {
	// Markdown is the text of the markdown block; empty: no block.
	Markdown string
	// Text is the text argument, with Slack's three characters escaped.
	Text string
	// Mrkdwn: the text is to be read as mrkdwn.
	Mrkdwn bool
}

// What Slack takes, counted in characters, with room to spare: 12,000 for
// markdown, some 13,200 for all blocks, 40,000 for text (and more is cut off
// without an error).
const (
	maxMarkdown = 11_000
	maxBlocks   = 12_500
	hardBlocks  = 13_000
	hardText    = 39_000
	maxFallback = 3_000
	// maxSource bounds what is read as a document, in bytes; longer texts are
	// shown as they are. Parts are far shorter.
	maxSource = 200_000
)

// Render is the markdown on one rung. A text that cannot be had on that rung
// (it would be too long) comes back on the next one that takes it.
func Render(markdown string, rung Rung, o Options) Post {
	source := clean(markdown)
	if rung == Markdown {
		p := Post{Markdown: formatted(source, asMarkdown, o)}
		if utf8.RuneCountInString(p.Markdown) <= 12_000 && blockLength(p.Markdown) <= hardBlocks && p.Markdown != "" {
			p.Text = clip(formatted(source, asPlain, o), maxFallback)
			return p
		}
	}
	if rung <= Mrkdwn {
		p := Post{Text: formatted(source, asMrkdwn, o), Mrkdwn: true}
		if utf8.RuneCountInString(p.Text) <= hardText && p.Text != "" {
			return p
		}
	}
	text := formatted(source, asPlain, o)
	if utf8.RuneCountInString(text) > hardText {
		// Escapes made it too long; characters of the same look need none.
		text = strings.NewReplacer("&lt;", "‹", "&gt;", "›", "&amp;", "＆").Replace(text)
	}
	return Post{Text: text}
}

// formatted writes the source in one form. A fault in reading it costs its
// formatting and never the answer.
func formatted(source string, f form, o Options) (out string) {
	defer func() {
		if recover() != nil {
			out = disarm(escapeText(source, f))
		}
	}()
	if len(source) > maxSource {
		return disarm(escapeText(source, f))
	}
	w := newWriter(source, f, o)
	return w.finish(strings.Trim(w.document(), "\n"))
}

// clip cuts text at a space or a grapheme, and says so with an ellipsis. It
// never cuts inside of one of the three escapes.
func clip(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	cut := text[:byteOffset(text, limit-1)]
	if i := strings.LastIndexAny(cut, " \n"); i > len(cut)/2 {
		cut = cut[:i]
	} else {
		cut = cut[:graphemeFloor(text, len(cut))]
	}
	if i := strings.LastIndexByte(cut, '&'); i >= 0 && !strings.Contains(cut[i:], ";") {
		cut = cut[:i]
	}
	if i := strings.LastIndexByte(cut, '<'); i >= 0 && !strings.Contains(cut[i:], ">") {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " \n") + "…"
}

// byteOffset is where the n-th character of s begins.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// blockLength is how long the message's blocks are as JSON, in characters.
func blockLength(markdown string) int {
	n := len(`[{"type":"markdown","text":""}]`)
	for _, r := range markdown {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t':
			n += 2
		case r < 0x20:
			n += 6
		default:
			n++
		}
	}
	return n
}
