package github

import (
	"fmt"

	"reeve/plugins"
)

// Credited is a text as it is written for an account.
func Credited(key, login string, run plugins.Run, body string) string {
	return credited(key, user{Login: login}, run, body)
}

// Parse is what a text names, on github.com.
func Parse(text string) (repository, issue string) {
	p := &plugin{web: "github.com"}
	if r, err := p.parseRepository(text); err == nil {
		repository = r.String()
	}
	if n, err := p.parseNumbered(text); err == nil {
		issue = n.String()
	}
	return repository, issue
}

// CheckBranch refuses what can be no branch's name.
var CheckBranch = checkBranch

// Types pairs the types of answers with those of a library, in the same order.
func Types(theirs ...any) map[string][2]any {
	pairs := map[string][2]any{}
	for i, ours := range []any{user{}, repo{}, permissions{}, label{}, issue{}, branchEnd{}, pull{}, comment{}, reviewComment{}, review{}, file{}, reference{}, comparison{}, commit{}, codeHit{}, found[issue]{}} {
		pairs[fmt.Sprintf("%T", ours)] = [2]any{ours, theirs[i]}
	}
	return pairs
}
