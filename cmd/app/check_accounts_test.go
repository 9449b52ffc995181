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
		"no client":    {Settings{OAuthProviders: []string{"github"}, CredentialKeys: NewSecret("1:x")}, nil, "GITHUB_CLIENT_ID is required", wrong},
		"no keys":      {Settings{OAuthProviders: []string{"github"}}, []string{"GITHUB_CLIENT_ID=x"}, "CREDENTIAL_KEYS, which is not set", wrong},
		"no address":   {Settings{OAuthProviders: []string{"notion"}, CredentialKeys: NewSecret("1:x")}, []string{"NOTION_CLIENT_ID=x"}, "Notion has no device flow", wrong},
		"half of it":   {Settings{PublicURL: "https://bot.example"}, nil, "belong together", wrong},
		"a code there": {Settings{OAuthProviders: []string{"github"}, CredentialKeys: NewSecret("1:x")}, []string{"GITHUB_CLIENT_ID=x"}, "by entering a code there, with an account of their address", passed},
	} {
		worst, all := passed, ""
		for _, f := range checkAccounts(test.settings, test.environ) {
			worst, all = max(worst, f.result), all+f.String()+"\n"
		}
		if worst != test.result || !strings.Contains(all, test.want) {
			t.Errorf("%s: %s", name, all)
		}
	}
}
