package oauth

import "strings"

// Scopes are how a provider speaks of rights.
type Scopes struct {
	// Default are always asked for, besides those that a call needs.
	Default []string `json:"default,omitempty"`
	// Separator stands between them in a request; a space unless said otherwise.
	Separator string `json:"separator,omitempty"`
	// Implies are those that come with another one.
	Implies map[string][]string `json:"implies,omitempty"`
}

// lacking are the wanted scopes that the granted ones do not hold.
func (s Scopes) lacking(wanted, granted []string) []string {
	has := map[string]bool{}
	var add func(string)
	add = func(scope string) {
		if has[scope] {
			return
		}
		has[scope] = true
		for _, other := range s.Implies[scope] {
			add(other)
		}
	}
	for _, scope := range granted {
		add(scope)
	}
	var out []string
	for _, scope := range wanted {
		if !has[scope] {
			out = append(out, scope)
		}
	}
	return out
}

// ask are the scopes to ask for: the provider's own, those that a call needs,
// and those that the account has granted already, since a new token replaces
// the old one.
func (s Scopes) ask(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range append([][]string{s.Default}, lists...) {
		for _, scope := range list {
			if !seen[scope] && scope != "" {
				seen[scope] = true
				out = append(out, scope)
			}
		}
	}
	return out
}

// splitScopes reads what a provider says of the scopes it granted: they stand
// between spaces or commas, whatever it wants itself.
func splitScopes(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
}

func joinScopes(c Configured, scopes []string) string {
	return strings.Join(scopes, c.Scopes.Separator)
}
