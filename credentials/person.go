package credentials

import (
	"regexp"
	"strings"
)

// KeyKinds are the kinds of keys that this package writes, as they stand in its
// keys behind the prefix and the shard.
func KeyKinds() []string {
	return []string{"account", "accounts", "permits", "flow", "flows", "reminders", "vault", "replicas", "audit", "audited"}
}

var keyName = regexp.MustCompile(`^\{c\d\d\}:(?:` + strings.Join(KeyKinds(), "|") + `)(?::|$)`)

// IsKey reports whether a key is one of this package's, by what stands behind the
// prefix.
func IsKey(name string) bool { return keyName.MatchString(name) }
