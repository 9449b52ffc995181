package plugins_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reeve/plugins"
)

// However a secret stands in an answer, one of its spellings stands there, and what
// is left beside it are at most two characters that hold bits of it.
func TestSpellingsAreFoundWhereverASecretIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9+/=._~-]{8,60}`).Draw(t, "secret")
		before, after := rapid.StringN(0, 5, -1).Draw(t, "before"), rapid.StringN(0, 5, -1).Draw(t, "after")
		whole := before + secret + after
		inJSON, _ := json.Marshal(whole)
		for name, text := range map[string]string{
			"plain": whole, "JSON": string(inJSON), "JSON of PHP": strings.ReplaceAll(whole, "/", `\/`),
			"query": url.QueryEscape(whole), "path": url.PathEscape(whole), "a URL in small letters": strings.ToLower(url.QueryEscape("?")) + lower(url.QueryEscape(whole)),
			"hex": hex.EncodeToString([]byte(whole)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(whole))),
			"base64": base64.StdEncoding.EncodeToString([]byte(whole)), "raw base64": base64.RawStdEncoding.EncodeToString([]byte(whole)),
			"base64 of URLs": base64.URLEncoding.EncodeToString([]byte(whole)), "raw base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(whole)),
		} {
			if !slices.ContainsFunc(plugins.Spellings(secret), func(s string) bool { return strings.Contains(text, s) }) {
				t.Fatalf("%s: none of %q stands in %s", name, plugins.Spellings(secret), text)
			}
		}
		list := plugins.Spellings(secret)
		if !slices.Contains(list, secret) || !slices.IsSortedFunc(list, func(a, b string) int { return len(b) - len(a) }) {
			t.Fatalf("%q", list)
		}
		for _, s := range list {
			if len(s) < len(secret)-1 {
				t.Fatalf("%q is too short to be %q", s, secret)
			}
		}
	})
}

func lower(escaped string) string {
	parts := strings.Split(escaped, "%")
	for i := range parts[1:] {
		parts[i+1] = strings.ToLower(parts[i+1][:2]) + parts[i+1][2:]
	}
	return strings.Join(parts, "%")
}

func TestShortSecretsAreSpelledAsTheyAre(t *testing.T) {
	if got := plugins.Spellings("1/debug"); !slices.Equal(got, []string{"1/debug"}) {
		t.Errorf("%q", got)
	}
	if got := plugins.Spellings(""); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
