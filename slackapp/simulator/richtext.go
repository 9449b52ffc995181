package simulator

import (
	"encoding/json"
	"regexp"
	"strings"
)

// richText is the rich_text block that a Slack client sends beside the text of
// a typed message. It knows paragraphs, quotes, code, mentions, links, emoji
// and the four styles one at a time, which is what people type.
func richText(text string) json.RawMessage {
	var elements []any
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			elements = append(elements, map[string]any{
				"type": "rich_text_preformatted", "border": 0, "elements": []any{plainElement(strings.Trim(part, "\n"), nil)},
			})
			continue
		}
		elements = append(elements, richParagraphs(part)...)
	}
	raw, _ := json.Marshal([]any{map[string]any{"type": "rich_text", "block_id": randomHex(3), "elements": elements}})
	return raw
}

// richParagraphs puts lines of one sort, quoted or not, into one element.
func richParagraphs(text string) []any {
	var out []any
	var lines []string
	quoted := false
	flush := func() {
		if joined := strings.Join(lines, "\n"); joined != "" {
			kind := "rich_text_section"
			if quoted {
				kind = "rich_text_quote"
			}
			out = append(out, map[string]any{"type": kind, "elements": richInline(joined)})
		}
		lines = nil
	}
	for _, line := range strings.Split(text, "\n") {
		rest, isQuote := strings.CutPrefix(line, "&gt;")
		if isQuote != quoted {
			flush()
			quoted = isQuote
		}
		if isQuote {
			line = strings.TrimPrefix(rest, " ")
		}
		lines = append(lines, line)
	}
	flush()
	return out
}

var inline = regexp.MustCompile("`([^`\n]+)`|<([^<>\n]+)>|:([a-z0-9_+-]+):|\\*([^*\n]+)\\*|\\b_([^_\n]+)_\\b|~([^~\n]+)~")

func richInline(text string) []any {
	var out []any
	at := 0
	for _, m := range inline.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			out = append(out, plainElement(text[at:m[0]], nil))
		}
		at = m[1]
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		switch {
		case group(1) != "":
			out = append(out, plainElement(group(1), map[string]bool{"code": true}))
		case group(2) != "":
			out = append(out, angleElement(group(2)))
		case group(3) != "":
			out = append(out, map[string]any{"type": "emoji", "name": group(3)})
		case group(4) != "":
			out = append(out, plainElement(group(4), map[string]bool{"bold": true}))
		case group(5) != "":
			out = append(out, plainElement(group(5), map[string]bool{"italic": true}))
		case group(6) != "":
			out = append(out, plainElement(group(6), map[string]bool{"strike": true}))
		}
	}
	if at < len(text) {
		out = append(out, plainElement(text[at:], nil))
	}
	return out
}

// angleElement is what stands between < and >.
func angleElement(inside string) map[string]any {
	target, label, labelled := strings.Cut(inside, "|")
	switch {
	case strings.HasPrefix(target, "@"):
		return map[string]any{"type": "user", "user_id": target[1:]}
	case strings.HasPrefix(target, "#"):
		return map[string]any{"type": "channel", "channel_id": target[1:]}
	case strings.HasPrefix(target, "!subteam^"):
		return map[string]any{"type": "usergroup", "usergroup_id": strings.TrimPrefix(target, "!subteam^")}
	case strings.HasPrefix(target, "!"):
		return map[string]any{"type": "broadcast", "range": target[1:]}
	}
	link := map[string]any{"type": "link", "url": unescape(target)}
	if labelled {
		link["text"] = unescape(label)
	}
	return link
}

func plainElement(text string, style map[string]bool) map[string]any {
	out := map[string]any{"type": "text", "text": unescape(text)}
	if style != nil {
		out["style"] = style
	}
	return out
}

var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

func unescape(text string) string { return unescaper.Replace(text) }

// outsideCode are the pieces of a text that stand in no code span or fence.
func outsideCode(text string) []string {
	var pieces []string
	for i, part := range strings.Split(text, "```") {
		if i%2 == 0 {
			pieces = append(pieces, codeSpan.Split(part, -1)...)
		}
	}
	return pieces
}

var codeSpan = regexp.MustCompile("`[^`\n]+`")

var atName = regexp.MustCompile(`@[\p{L}\p{N}_.-]+`)

// Typed turns what a person types into Slack's wire form: &, < and > are
// escaped, and outside code @name, of an account's handle or display name,
// becomes a mention.
func (s *Server) Typed(text string) string {
	s.mu.Lock()
	ids := map[string]string{}
	for _, u := range s.world.Users {
		for _, name := range []string{u.Name, u.DisplayName} {
			if name != "" {
				ids[strings.ToLower(name)] = u.ID
			}
		}
	}
	s.mu.Unlock()
	link := func(plain string) string {
		return atName.ReplaceAllStringFunc(plain, func(at string) string {
			if id := ids[strings.ToLower(strings.TrimRight(at[1:], ".-"))]; id != "" {
				return "<@" + id + ">" + at[1+len(strings.TrimRight(at[1:], ".-")):]
			}
			return at
		})
	}
	parts := strings.Split(escaper.Replace(text), "```")
	for i := range parts {
		if i%2 == 1 {
			continue
		}
		spans := codeSpan.FindAllString(parts[i], -1)
		for j, plain := range codeSpan.Split(parts[i], -1) {
			if j == 0 {
				parts[i] = link(plain)
			} else {
				parts[i] += spans[j-1] + link(plain)
			}
		}
	}
	return strings.Join(parts, "```")
}
