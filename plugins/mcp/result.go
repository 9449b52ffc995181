package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins"
)

// maxText bounds what is put together of a result. The gate cuts it to what the
// model is given.
const maxText = 256 << 10

// render is a result as text: what is none becomes a note that names its type
// and size, so that model and person know what they do not see.
func render(result *sdk.CallToolResult) plugins.Result {
	var parts []string
	for _, content := range result.Content {
		if part := renderContent(content); part != "" {
			parts = append(parts, plugins.CutMiddle(part, maxText))
		}
	}
	if text := structured(result); text != "" {
		parts = append(parts, plugins.CutMiddle(text, maxText))
	}
	text := strings.Join(parts, "\n\n")
	if text == "" && result.IsError {
		text = "The tool reports an error, and does not say which."
	}
	return plugins.Result{Text: plugins.CutMiddle(text, maxText), Error: result.IsError}
}

func renderContent(content sdk.Content) string {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[an image, %s, %s, which cannot be shown here]", kind(c.MIMEType), size(len(c.Data)))
	case *sdk.AudioContent:
		return fmt.Sprintf("[a sound, %s, %s, which cannot be played here]", kind(c.MIMEType), size(len(c.Data)))
	case *sdk.ResourceLink:
		note := "[a link to a resource: " + line(c.URI)
		for _, word := range []string{c.Name, c.Title, c.MIMEType} {
			if word != "" {
				note += ", " + line(word)
			}
		}
		if c.Size != nil {
			note += ", " + size(int(*c.Size))
		}
		if c.Description != "" {
			note += ": " + line(c.Description)
		}
		return note + "]"
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "[a resource without content]"
		}
		if len(c.Resource.Blob) > 0 {
			return fmt.Sprintf("[the resource %s, %s, %s, which cannot be shown here]", line(c.Resource.URI), kind(c.Resource.MIMEType), size(len(c.Resource.Blob)))
		}
		return fmt.Sprintf("[the resource %s, %s, %s]\n%s", line(c.Resource.URI), kind(c.Resource.MIMEType), size(len(c.Resource.Text)), c.Resource.Text)
	default:
		return "[content of a kind that cannot be shown here]"
	}
}

// structured is the structured content, unless a text says the same: servers
// are asked to send both.
func structured(result *sdk.CallToolResult) string {
	if result.StructuredContent == nil {
		return ""
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return ""
	}
	for _, content := range result.Content {
		if said, ok := content.(*sdk.TextContent); ok && sameJSON([]byte(said.Text), text) {
			return ""
		}
	}
	return string(text)
}

func sameJSON(a, b []byte) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	one, _ := json.Marshal(left)
	other, _ := json.Marshal(right)
	return bytes.Equal(one, other)
}

func kind(mime string) string {
	if mime == "" {
		return "of no stated type"
	}
	return line(mime)
}

// line is a name that a server made up, on one line and not too long.
func line(text string) string {
	return plugins.CutMiddle(strings.Join(strings.Fields(text), " "), 512)
}

func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
