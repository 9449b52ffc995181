package gate

import (
	"strings"

	"reeve/plugins"
)

// clean redacts a result and cuts it to its limit. It redacts first, so that
// no cut leaves the half of a secret that its prefix would have told; only
// what is far too long is cut before, at a place that the second cut removes.
func clean(text string, limit int) string {
	text = cleanDM(text, limit)
	if strings.TrimSpace(text) == "" {
		return "(The tool gave no text back.)"
	}
	return text
}

// cleanDM is clean for what nobody misses when it is empty.
func cleanDM(text string, limit int) string {
	return plugins.CutMiddle(plugins.Redact(plugins.CutMiddle(text, 64*limit)), limit)
}
