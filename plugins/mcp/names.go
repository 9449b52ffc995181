package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name that every provider accepts for a function.
const maxName = 64

// toolNames are the names under which a server's tools are offered, by their
// own: mcp_SERVER__TOOL. They depend on nothing but the names themselves, in
// whatever order they come.
//
// Names of two servers never meet: no id holds "__" or ends with "_", so that
// the first "__" ends the server, and readConfig takes each id once. Where two
// tools of one server would meet, or a name would be cut, all of them get a
// hash of their own name behind theirs. What meets even then, which a server
// can only want, is left out.
func toolNames(server string, tools []string) map[string]string {
	groups := map[string][]string{}
	for _, tool := range tools {
		name := "mcp_" + server + "__" + sanitise(tool)
		groups[name] = append(groups[name], tool)
	}
	names := map[string]string{}
	owners := map[string]int{}
	for name, group := range groups {
		for _, tool := range group {
			given := name
			if len(group) > 1 || len(name) > maxName || sanitise(tool) == "" {
				sum := sha256.Sum256([]byte(tool))
				given = strings.TrimRight(name[:min(len(name), maxName-9)], "_") + "_" + hex.EncodeToString(sum[:4])
			}
			names[tool] = given
			owners[given]++
		}
	}
	for tool, name := range names {
		if owners[name] > 1 {
			delete(names, tool)
		}
	}
	return names
}

// sanitise makes a name of lower-case letters, digits and single underscores,
// none of them at an end.
func sanitise(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "_") {
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}
