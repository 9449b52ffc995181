package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a message's content. The first two are documented; the size of all
// blocks together is not, and was seen in the field.
const (
	maxBlocks    = 50
	maxMarkdown  = 12_000
	maxBlockSize = 13_200
	maxMetadata  = 8_000
)

type content struct {
	blocks, attachments, metadata json.RawMessage
	// fallback stands for a missing text.
	fallback string
}

// readContent checks what a call wants to post, beside its text.
func readContent(a args) (content, error) {
	var out content
	markdown := a.get("markdown_text")
	if markdown != "" {
		switch {
		case a.get("text") != "" || a.get("blocks") != "":
			return out, fail("markdown_text_conflict")
		case utf8.RuneCountInString(markdown) > maxMarkdown:
			return out, fail("msg_too_long")
		}
		out.blocks, _ = json.Marshal([]any{map[string]any{"type": "markdown", "text": markdown}})
		out.fallback = markdown
	}
	if raw := a.get("blocks"); raw != "" {
		blocks, err := readBlocks(raw)
		if err != nil {
			return out, err
		}
		if len(blocks) > 0 {
			out.blocks = json.RawMessage(raw)
			out.fallback = plainText(blocks)
		}
	}
	if raw := a.get("attachments"); raw != "" {
		var list []json.RawMessage
		switch {
		case json.Unmarshal([]byte(raw), &list) != nil:
			return out, fail("invalid_attachments")
		case len(list) > 100:
			return out, fail("too_many_attachments")
		case len(list) > 0:
			out.attachments = json.RawMessage(raw)
		}
	}
	if raw := a.get("metadata"); raw != "" {
		var meta struct {
			Type    string          `json:"event_type"`
			Payload json.RawMessage `json:"event_payload"`
		}
		switch {
		case json.Unmarshal([]byte(raw), &meta) != nil:
			return out, fail("invalid_metadata_format")
		case meta.Type != "" && len(meta.Payload) == 0:
			return out, fail("invalid_metadata_schema")
		case len(raw) > maxMetadata:
			return out, fail("metadata_too_large")
		case meta.Type != "":
			out.metadata = json.RawMessage(raw)
		}
	}
	return out, nil
}

// block is what the checks look at.
type block struct {
	Type     string            `json:"type"`
	BlockID  string            `json:"block_id"`
	Text     json.RawMessage   `json:"text"`
	Fields   []textObject      `json:"fields"`
	Elements []json.RawMessage `json:"elements"`
	ImageURL string            `json:"image_url"`
	File     json.RawMessage   `json:"slack_file"`
	AltText  string            `json:"alt_text"`
}

type textObject struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

var blockTypes = map[string]bool{
	"actions": true, "context": true, "context_actions": true, "divider": true, "file": true, "header": true,
	"image": true, "input": true, "markdown": true, "plan": true, "rich_text": true, "section": true,
	"table": true, "task_card": true, "video": true,
}

func readBlocks(raw string) ([]block, error) {
	var blocks []block
	if json.Unmarshal([]byte(raw), &blocks) != nil {
		return nil, fail("invalid_blocks_format")
	}
	if len(blocks) > maxBlocks {
		return nil, fail("invalid_blocks", "[ERROR] no more than 50 items allowed [json-pointer:/blocks]")
	}
	ids, markdown := map[string]bool{}, 0
	for i, b := range blocks {
		if problem := b.problem(); problem != "" {
			return nil, fail("invalid_blocks", fmt.Sprintf("[ERROR] %s [json-pointer:/blocks/%d]", problem, i))
		}
		if b.BlockID != "" && ids[b.BlockID] {
			return nil, fail("invalid_blocks", "[ERROR] `block_id` already exists ["+b.BlockID+"]")
		}
		ids[b.BlockID] = true
		if b.Type == "markdown" {
			markdown += utf8.RuneCountInString(b.text())
		}
	}
	if markdown > maxMarkdown || utf8.RuneCountInString(raw) > maxBlockSize {
		return nil, fail("msg_blocks_too_long")
	}
	return blocks, nil
}

// text of a block, whether it is a text object or, in markdown, a string.
func (b block) text() string {
	var plain string
	if json.Unmarshal(b.Text, &plain) == nil {
		return plain
	}
	var object textObject
	_ = json.Unmarshal(b.Text, &object)
	return object.Text
}

// problem says what Slack would refuse about a block, "" when nothing.
func (b block) problem() string {
	long := func(text string, limit int) bool { return utf8.RuneCountInString(text) > limit }
	tooLong := func(limit int) string { return fmt.Sprintf("must be less than %d characters", limit+1) }
	text := b.text()
	switch {
	case !blockTypes[b.Type]:
		return "unsupported type: " + b.Type
	case long(b.BlockID, 255):
		return tooLong(255)
	}
	switch b.Type {
	case "section":
		switch {
		case text == "" && len(b.Fields) == 0:
			return "missing required field: text"
		case long(text, 3000):
			return tooLong(3000)
		case len(b.Fields) > 10:
			return "no more than 10 items allowed"
		}
		for _, f := range b.Fields {
			if long(f.Text, 2000) {
				return tooLong(2000)
			}
		}
	case "header":
		if long(text, 150) {
			return tooLong(150)
		}
		if text == "" {
			return "missing required field: text"
		}
	case "markdown":
		if text == "" {
			return "missing required field: text"
		}
	case "context":
		if len(b.Elements) == 0 || len(b.Elements) > 10 {
			return "between 1 and 10 elements allowed"
		}
	case "actions":
		if len(b.Elements) == 0 || len(b.Elements) > 25 {
			return "between 1 and 25 elements allowed"
		}
		return b.elementProblem()
	case "context_actions":
		if len(b.Elements) == 0 || len(b.Elements) > 5 {
			return "between 1 and 5 elements allowed"
		}
	case "image":
		if (b.ImageURL == "" && b.File == nil) || b.AltText == "" {
			return "missing required field: image_url or alt_text"
		}
	}
	return ""
}

func (b block) elementProblem() string {
	seen := map[string]bool{}
	for _, raw := range b.Elements {
		var e struct {
			Text     textObject `json:"text"`
			ActionID string     `json:"action_id"`
			Value    string     `json:"value"`
			URL      string     `json:"url"`
			Type     string     `json:"type"`
			Options  []struct {
				Text  textObject `json:"text"`
				Value string     `json:"value"`
			} `json:"options"`
		}
		if json.Unmarshal(raw, &e) != nil {
			return "invalid element"
		}
		switch {
		case utf8.RuneCountInString(e.Text.Text) > 75:
			return "must be less than 76 characters"
		case len(e.Value) > 2000:
			return "must be less than 2001 characters"
		case len(e.ActionID) > 255:
			return "must be less than 256 characters"
		case len(e.URL) > 3000:
			return "must be less than 3001 characters"
		case e.Type == "checkboxes" && (len(e.Options) == 0 || len(e.Options) > 10):
			return "between 1 and 10 options allowed"
		case e.ActionID != "" && seen[e.ActionID]:
			return "`action_id` already exists"
		}
		for _, o := range e.Options {
			if n := utf8.RuneCountInString(o.Text.Text); n == 0 || n > 75 || o.Value == "" || len(o.Value) > 150 {
				return "option text or value is missing or too long"
			}
		}
		seen[e.ActionID] = true
	}
	return ""
}

func plainText(blocks []block) string {
	var parts []string
	for _, b := range blocks {
		if text := b.text(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}
