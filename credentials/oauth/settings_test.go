package oauth_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/credentials"
	"reeve/credentials/oauth"
)

const acmeFile = `{
  "title": "Acme", "auth_url": "https://acme.example/authorize", "token_url": "https://acme.example/token",
  "user_info": {"url": "https://acme.example/me", "id": "id", "name": "login"},
  "hosts": ["api.acme.example"], "pkce": true, "scopes": {"default": ["read"]}
}`

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "provider.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSettings(t *testing.T) {
	all, err := oauth.Load([]string{"github", "acme"}, []string{
		"GITHUB_CLIENT_ID=one", "GITHUB_CLIENT_SECRET=" + tokenKind, "GITHUB_SCOPES=read:user,user:email,repo", "GITHUB_DEVICE_ANY_EMAIL=true",
		"ACME_CLIENT_ID=two", "ACME_PROVIDER_FILE=" + file(t, acmeFile), "OTHER_CLIENT_ID=three",
	})
	if err != nil || len(all) != 2 {
		t.Fatalf("%v", err)
	}
	if c := all[0]; c.Title != "GitHub" || c.ClientID != "one" || c.ClientSecret.Reveal() != tokenKind || !c.AnyEmail || !slices.Contains(c.Scopes.Default, "repo") {
		t.Errorf("%+v", c)
	}
	if c := all[1]; c.Name != "acme" || c.Title != "Acme" || c.ClientSecret.IsSet() || c.AnyEmail || c.Scopes.Separator != " " {
		t.Errorf("%+v", c)
	}
	if wrong := oauth.Needs(all, ""); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "Acme has no device flow") || !strings.Contains(wrong[0].Error(), "PUBLIC_URL") {
		t.Errorf("%v", wrong)
	}
	if wrong := oauth.Needs(all, "https://bot.example"); len(wrong) > 0 {
		t.Errorf("%v", wrong)
	}
	if notes := strings.Join(oauth.Notes(all, "https://bot.example/"), "\n"); !strings.Contains(notes, "https://bot.example/callback/github") {
		t.Error(notes)
	}
	if notes := strings.Join(oauth.Notes(all, ""), "\n"); !strings.Contains(notes, "GITHUB_DEVICE_ANY_EMAIL") {
		t.Error(notes)
	}
	for _, setting := range oauth.SettingsOf("acme") {
		if !strings.HasPrefix(setting.Name, "ACME_") || setting.Doc == "" {
			t.Errorf("%+v", setting)
		}
	}
}

func TestWrongSettingsSayWhichAndNoValue(t *testing.T) {
	for name, test := range map[string]struct {
		names   string
		environ []string
		want    string
	}{
		"no client":         {"github", nil, "GITHUB_CLIENT_ID is required"},
		"not built in":      {"acme", []string{"ACME_CLIENT_ID=x"}, "ACME_PROVIDER_FILE is required"},
		"no file":           {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=/does/not/exist"}, "ACME_PROVIDER_FILE"},
		"no boolean":        {"github", []string{"GITHUB_CLIENT_ID=x", "GITHUB_DEVICE_ANY_EMAIL=" + tokenKind}, "GITHUB_DEVICE_ANY_EMAIL"},
		"no name":           {"GitHub", []string{"GITHUB_CLIENT_ID=x"}, "OAUTH_PROVIDERS"},
		"twice":             {"github,github", []string{"GITHUB_CLIENT_ID=x"}, "OAUTH_PROVIDERS"},
		"white space":       {"github", []string{"GITHUB_CLIENT_ID=x", "GITHUB_CLIENT_SECRET=" + tokenKind + " y"}, "GITHUB_CLIENT_SECRET"},
		"an unknown field":  {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=" + file(t, `{"tokenurl": ""}`)}, "unknown field"},
		"http":              {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=" + file(t, strings.Replace(acmeFile, "https://acme.example/token", "http://acme.example/token", 1))}, "token_url"},
		"no hosts":          {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=" + file(t, strings.Replace(acmeFile, `"api.acme.example"`, ``, 1))}, "hosts"},
		"every host":        {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=" + file(t, strings.Replace(acmeFile, `api.acme.example`, `*.example`, 1))}, "hosts"},
		"another's name":    {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=" + file(t, strings.Replace(acmeFile, `{`, `{"name": "other",`, 1))}, "other"},
		"our own parameter": {"acme", []string{"ACME_CLIENT_ID=x", "ACME_PROVIDER_FILE=" + file(t, strings.Replace(acmeFile, `{`, `{"extra_params": {"state": "x"},`, 1))}, "extra_params"},
	} {
		_, err := oauth.Load(strings.Split(test.names, ","), test.environ)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), tokenKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each built-in provider is complete, reaches its own API alone, and its endpoints
// are where its documentation says.
func TestBuiltInProviders(t *testing.T) {
	all := oauth.Builtin()
	var configured []oauth.Configured
	for name, p := range all {
		if p.Name != name {
			t.Errorf("%s is named %s", name, p.Name)
		}
		configured = append(configured, oauth.Configured{Provider: p, ClientID: "x", ClientSecret: credentials.NewSecret("y")})
	}
	if _, err := oauth.New(oauth.Options{Providers: configured, PublicURL: "https://bot.example"}); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"github":    "https://github.com/login/oauth/access_token",
		"google":    "https://oauth2.googleapis.com/token",
		"linear":    "https://api.linear.app/oauth/token",
		"notion":    "https://api.notion.com/v1/oauth/token",
		"sentry":    "https://sentry.io/oauth/token/",
		"atlassian": "https://auth.atlassian.com/oauth/token",
	} {
		if all[name].TokenURL != want {
			t.Errorf("%s: %s", name, all[name].TokenURL)
		}
	}
	if len(all) != 6 {
		t.Errorf("%d providers", len(all))
	}
}
