package app

import (
	"slices"
	"strings"

	"reeve/credentials/oauth"
)

// checkAccounts says whether people could connect accounts as things are set.
func checkAccounts(s Settings, environ []string) []finding {
	const test = "OAUTH_PROVIDERS"
	providers, err := oauth.Load(s.OAuthProviders, environ)
	var found []finding
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			found = append(found, finding{test: test, result: wrong, detail: strings.TrimSpace(line)})
		}
	}
	for _, err := range oauth.Needs(providers, s.PublicURL) {
		found = append(found, finding{test: test, result: wrong, detail: err.Error(), fix: "set PUBLIC_URL and PUBLIC_ADDR, or take it out"})
	}
	if len(s.OAuthProviders) > 0 && !s.CredentialKeys.IsSet() {
		found = append(found, finding{test: test, result: wrong, detail: "accounts are sealed with CREDENTIAL_KEYS, which is not set", fix: "CREDENTIAL_KEYS=1:$(openssl rand -base64 32)"})
	}
	if (s.PublicURL == "") != (s.PublicAddr == "") {
		found = append(found, finding{test: "PUBLIC_URL", result: wrong, detail: "PUBLIC_URL and PUBLIC_ADDR belong together", fix: "set both, or none"})
	}
	for _, note := range oauth.Notes(providers, s.PublicURL) {
		found = append(found, finding{test: test, detail: note})
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
