package slackapp

import (
	"encoding/json"
	"strings"

	"reeve/runtime/chat"
)

// saidInBlocks reads a message's rich text. ok is false when it has none, or
// holds something that is not understood: then the text has to do.
func saidInBlocks(blocks []json.RawMessage, channels map[string]string, bot chat.UserID) (said, bool) {
	r := blockReader{channels: channels, bot: bot}
	rich := false
	for _, b := range blocks {
		block := parseFields(b)
		switch block.text("type") {
		case "rich_text":
			rich = true
			for _, e := range block.list("elements") {
				r.container(parseFields(e))
			}
		case "table":
			r.table(block)
		}
	}
	r.said.body = r.body.String()
	return r.said, rich && !r.odd
}

type blockReader struct {
	channels map[string]string
	bot      chat.UserID
	said     said
	body     strings.Builder
	quoting  bool // the last container was a quote
	odd      bool // something was not understood
}

// container reads one part of a rich text. Lists and code with a border stand
// inside a quote.
func (r *blockReader) container(c fields) {
	kind := c.text("type")
	quoted := kind == "rich_text_quote" || c.number("border") > 0
	var text string
	switch kind {
	case "rich_text_section", "rich_text_quote":
		text = r.inline(c, quoted)
	case "rich_text_preformatted":
		text = "```" + r.inline(c, true) + "```"
	case "rich_text_list":
		text = r.list(c, quoted)
	default:
		r.odd = true
		return
	}
	switch {
	case quoted && r.quoting:
		last := len(r.said.quotes) - 1
		r.said.quotes[last] += "\n" + strings.TrimSpace(text)
	case quoted:
		r.said.quotes = append(r.said.quotes, strings.TrimSpace(text))
	default:
		r.write(text)
	}
	r.quoting = quoted
}

// write adds to what was typed, on a line of its own.
func (r *blockReader) write(text string) {
	if s := r.body.String(); s != "" && !strings.HasSuffix(s, "\n") {
		r.body.WriteByte('\n')
	}
	r.body.WriteString(text)
}

func (r *blockReader) list(c fields, quoted bool) string {
	indent := strings.Repeat("    ", int(min(max(c.number("indent"), 0), 8)))
	ordered, offset := c.text("style") == "ordered", c.number("offset")
	var lines []string
	for i, e := range c.list("elements") {
		section := parseFields(e)
		if section.text("type") != "rich_text_section" {
			r.odd = true
		}
		bullet := "• "
		if ordered {
			bullet = itoa(offset+int64(i)+1) + ". "
		}
		lines = append(lines, indent+bullet+r.inline(section, quoted))
	}
	return strings.Join(lines, "\n")
}

// inline reads the elements of one line or paragraph. inert says that a
// mention in it is none: it stands in code or in a quote.
func (r *blockReader) inline(c fields, inert bool) string {
	var out strings.Builder
	for _, b := range c.list("elements") {
		e := parseFields(b)
		style := parseFields(e["style"])
		code := style.stamp("code").set
		text, ok := r.element(e)
		r.odd = r.odd || !ok
		if e.text("type") == "user" && !inert && !code && e.text("user_id") == string(r.bot) && r.bot != "" {
			r.said.mentioned = true
		}
		out.WriteString(styled(text, style, code))
	}
	return out.String()
}

// element is one element in Slack's escaped form.
func (r *blockReader) element(e fields) (text string, ok bool) {
	switch e.text("type") {
	case "text":
		return escape(e.text("text")), true
	case "link":
		url := strings.ReplaceAll(escape(e.text("url")), "|", "%7C")
		if label := e.text("text"); label != "" {
			return "<" + url + "|" + escape(label) + ">", true
		}
		return "<" + url + ">", true
	case "user":
		return "<@" + escape(e.text("user_id")) + ">", true
	case "channel":
		id := e.text("channel_id")
		if name := r.channels[id]; name != "" {
			return "<#" + escape(id) + "|" + name + ">", true
		}
		return "<#" + escape(id) + ">", true
	case "usergroup":
		return "<!subteam^" + escape(e.text("usergroup_id")) + ">", true
	case "broadcast":
		return "<!" + escape(e.text("range")) + ">", true
	case "emoji":
		return ":" + escape(e.text("name")) + ":", true
	case "color":
		return escape(e.text("value")), true
	case "date":
		return escape(e.text("fallback")), true
	case "team":
		return escape(e.text("team_id")), true
	}
	return "", false
}

// styled writes the marks that Slack's text form has for a style.
func styled(text string, style fields, code bool) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	if code {
		return "`" + text + "`"
	}
	for _, s := range [...]struct{ name, mark string }{{"strike", "~"}, {"italic", "_"}, {"bold", "*"}} {
		if style.stamp(s.name).set {
			text = s.mark + text + s.mark
		}
	}
	return text
}

// table writes a pasted table, which stands in no text, with tabs between its
// cells. What a person pastes counts as his.
func (r *blockReader) table(block fields) {
	for _, row := range block.list("rows") {
		var cells []json.RawMessage
		if json.Unmarshal(row, &cells) != nil {
			continue
		}
		line := make([]string, len(cells))
		for i, b := range cells {
			cell := parseFields(b)
			line[i] = escape(cell.text("text"))
			for _, e := range cell.list("elements") {
				line[i] += r.inline(parseFields(e), true)
			}
		}
		r.write(strings.Join(line, "\t"))
	}
}
