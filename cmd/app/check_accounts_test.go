package app

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestNoLogShowsAnAppsSecret(t *testing.T) {
	secrets := appSecrets([]string{"acme", "github"}, map[string]string{
		"ACME_CLIENT_SECRET": "acme-canary", "GITHUB_CLIENT_SECRET": "", "OTHER_CLIENT_SECRET": "other", "GITHUB_APP_PRIVATE_KEY": "key-canary\nof two lines",
	})
	if len(secrets) != 2 {
		t.Fatalf("%d secrets", len(secrets))
	}
	var out bytes.Buffer
	_, _ = io.WriteString(redactedWriter{&out, newRedactor(secrets...)}, "with acme-canary and \"key-canary\\nof two lines\"\n")
	if strings.Contains(out.String(), "canary") {
		t.Error(out.String())
	}
}

func TestCheckOfAccounts(t *testing.T) {
	for name, test := range map[string]struct {
		settings Settings
		environ  []string
		want     string
		result   result
	}{
		"none":         {Settings{}, nil, "", passed},
		"no client":    {Settings{OAuthProviders: []string{"github"}, CredentialKeys: NewSecret("1:x")}, nil, "GITHUB_CLIENT_ID is required, since OAUTH_PROVIDERS names github; fix: register an app at GitHub and set the client id", wrong},
		"no keys":      {Settings{OAuthProviders: []string{"github"}}, []string{"GITHUB_CLIENT_ID=x"}, "CREDENTIAL_KEYS, which is not set", wrong},
		"no address":   {Settings{OAuthProviders: []string{"notion"}, CredentialKeys: NewSecret("1:x")}, []string{"NOTION_CLIENT_ID=x"}, "Notion has no device flow", wrong},
		"no file":      {Settings{OAuthProviders: []string{"acme"}, CredentialKeys: NewSecret("1:x")}, nil, "ACME_PROVIDER_FILE is required", wrong},
		"no boolean":   {Settings{OAuthProviders: []string{"github"}, CredentialKeys: NewSecret("1:x")}, []string{"GITHUB_CLIENT_ID=x", "GITHUB_DEVICE_ANY_EMAIL=so"}, "GITHUB_DEVICE_ANY_EMAIL cannot be read", wrong},
		"half an app":  {Settings{OAuthProviders: []string{"github"}, CredentialKeys: NewSecret("1:x")}, []string{"GITHUB_CLIENT_ID=x", "GITHUB_APP_ID=1"}, "GITHUB_APP_PRIVATE_KEY or GITHUB_APP_PRIVATE_KEY_FILE is required", wrong},
		"half of it":   {Settings{PublicURL: "https://bot.example"}, nil, "belong together", wrong},
		"a code there": {Settings{OAuthProviders: []string{"github"}, CredentialKeys: NewSecret("1:x")}, []string{"GITHUB_CLIENT_ID=x"}, "by entering a code there, with an account of their address", passed},
	} {
		worst, all := passed, ""
		for _, f := range checkAccounts(test.settings, test.environ) {
			worst, all = max(worst, f.result), all+f.String()+"\n"
			if f.result != passed && f.fix == "" {
				t.Errorf("%s: nothing says what to do: %s", name, f)
			}
		}
		if worst != test.result || !strings.Contains(all, test.want) {
			t.Errorf("%s: %s", name, all)
		}
	}
}
