package app

import (
	"errors"
	"slices"
	"strings"

	"reeve/credentials/oauth"
	"reeve/plugins/outbound"
)

// checkAccounts says whether people could connect accounts as things are set.
func checkAccounts(s Settings, environ []string) []finding {
	const test = "OAUTH_PROVIDERS"
	providers, err := oauth.Load(s.OAuthProviders, environ)
	var found []finding
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			found = append(found, accountFinding(test, err, "correct that (see docs/credentials.md)")...)
		}
	}
	if slices.Contains(s.OAuthProviders, "github") {
		if _, err := oauth.LoadGitHubApp(environ, outbound.Options{}); err != nil {
			found = append(found, accountFinding("GITHUB_APP_ID", err, "correct that, or unset all that begin with GITHUB_APP_: the bot then writes as the person")...)
		}
	}
	for _, err := range oauth.Needs(providers, s.PublicURL) {
		found = append(found, finding{test: test, result: wrong, detail: err.Error(), fix: "set PUBLIC_URL and PUBLIC_ADDR, or take it out"})
	}
	if len(s.OAuthProviders) > 0 && !s.CredentialKeys.IsSet() {
		found = append(found, finding{test: test, result: wrong, detail: "accounts are sealed with CREDENTIAL_KEYS, which is not set", fix: "set it to 1: and, behind that, what openssl rand -base64 32 prints"})
	}
	if (s.PublicURL == "") != (s.PublicAddr == "") {
		found = append(found, finding{test: "PUBLIC_URL", result: wrong, detail: "PUBLIC_URL and PUBLIC_ADDR belong together", fix: "set both, or none"})
	}
	for _, note := range oauth.Notes(providers, s.PublicURL) {
		found = append(found, finding{test: test, detail: note})
	}
	return found
}

// accountFinding is an error with what would help; a line each, where it has several.
func accountFinding(test string, err error, fix string) []finding {
	if w, ok := errors.AsType[*oauth.Wrong](err); ok {
		fix = w.Fix
	}
	var found []finding
	for line := range strings.Lines(err.Error()) {
		found = append(found, finding{test, wrong, strings.TrimSpace(line), fix})
	}
	return found
}

// appSecrets are those of the apps that are registered at providers, which no log
// may show either.
func appSecrets(providers []string, variables map[string]string) []string {
	values := []string{variables["GITHUB_APP_PRIVATE_KEY"]}
	for _, name := range providers {
		values = append(values, variables[strings.ToUpper(name)+"_CLIENT_SECRET"])
	}
	return slices.DeleteFunc(values, func(v string) bool { return v == "" })
}
