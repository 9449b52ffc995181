package gate

import (
	"regexp"
	"strings"

	"reeve/plugins"
)

// secrets are tokens that are known by how they begin. This catches accidents,
// such as a tool that prints its settings; it is no wall.
var secrets = regexp.MustCompile(`\b(?:xox[a-z](?:\.xox[a-z])?-|xapp-|sk-|sk_live_|rk_live_|gh[oprsu]_|github_pat_|glpat-|AKIA|ASIA|AIza|ya29\.)[A-Za-z0-9_\-.%/+]{12,}`)

// keptOfSecret is how much of a secret stays, to tell which kind it was.
const keptOfSecret = 4

// Redact masks secrets that are known by their prefix.
func Redact(text string) string {
	return secrets.ReplaceAllStringFunc(text, func(secret string) string {
		return secret[:keptOfSecret] + "…[masked]"
	})
}

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
	return plugins.CutMiddle(Redact(plugins.CutMiddle(text, 64*limit)), limit)
}
