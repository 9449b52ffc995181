package plugins_test

import (
	"strings"
	"testing"

	"reeve/plugins"
)

// Made up, in their real forms; put together here, so that no scanner takes
// this file for a leak.
var forms = map[string]string{
	"Slack bot":      "xoxb-" + "2412345678901-2498765432109-abcDEFghiJKLmnoPQRstuVWX",
	"Slack app":      "xapp-" + "1-A0123456789-1234567890123-abcdef0123456789abcdef0123456789",
	"OpenAI":         "sk-" + "proj-abc123DEF456ghi789JKL012mno345",
	"GitHub":         "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
	"GitHub fine":    "github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
	"GitLab":         "glpat-" + "ABCdef123456ghiJKL78",
	"AWS":            "AKIA" + "IOSFODNN7EXAMPLE",
	"AWS secret":     "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY1",
	"Google":         "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
	"Stripe":         "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
	"JWT":            "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"PEM":            "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
	"Telegram":       "110201543:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
	"password":       "my password is hunter2!",
	"password = ":    "DB_PASSWORD=s3cr3tpw",
	"German":         "Mein Passwort ist: Sommer2024!",
	"URL":            "postgres://app:s3cret@db.internal/app",
	"card":           "4111 1111 1111 1111",
	"hex key":        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	"PIN":            "the pin is 4711",
	"npm":            "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
	"PyPI":           "pypi-" + "AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMAAC",
	"Hugging Face":   "hf_" + "abcdefghijklmnopQRSTUVWXYZabcdefgh",
	"Notion":         "ntn_" + "12345678901abcdefghijklmnopqrstuvwxyzABCDEFGHI",
	"Notion old":     "secret_" + "abcdefghijklmnopqrstuvwxyz01234567890ABCDEF",
	"Linear":         "lin_api_" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN",
	"SendGrid":       "SG." + "abcdefghijklmnopqrstuv" + "." + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ",
	"sk plain":       "sk-" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
	"sk mixed":       "sk-" + "1a_2b-3cDEFghIJKLmnoPQ",
	"sk-ant":         "sk-" + "ant-api-abcdefghijklmnop",
	"connect string": "AccountKey=" + "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6==",
}

func TestSecretsOfRealFormsAreFound(t *testing.T) {
	for name, secret := range forms {
		for _, text := range []string{secret, "please remember " + secret + " for me"} {
			if !plugins.HasSecret(text) {
				t.Errorf("%s: not found", name)
			}
		}
	}
}

func TestWordsAreNoSecrets(t *testing.T) {
	for _, text := range []string{
		"I prefer terse code reviews",
		"My password manager is great, and the token bucket is full",
		"the deploy runs on Tuesdays at 14:00",
		"see https://github.com/acme/shop/pull/1234567890 and docs/operating.md",
		"The ticket is SHOP-12345 and the phone number +49 30 1234567",
		"Donaudampfschifffahrtsgesellschaftskapitän",
		"run ./cmd/reeve playground --addr 127.0.0.1:8080",
		"the commit is 42d13b3",
		"internationalization-and-localization-guidelines",
		"unset npm_config_userconfig and npm_package_version first",
		"secret_access_manager, secret_key_base_rotation and secret_manager_client",
		"hf_hub_download, hf_transfer_enabled and ntn_page_collection",
		`<div class="sk-fading-circle"><div class="sk-circle12 sk-child"></div></div>`,
		"pypi-publish-to-testing runs in ASIA-Pacific-region, of SG.holding.example.com",
		"lin_api_client_options",
	} {
		if plugins.HasSecret(text) {
			t.Errorf("%q is taken for a secret", text)
		}
		if got := plugins.Redact(text); got != text {
			t.Errorf("%q is masked: %q", text, got)
		}
	}
}

func TestRedactLeavesNothingOfASecretButItsKind(t *testing.T) {
	for _, name := range []string{"Slack bot", "GitHub", "JWT", "PEM", "Stripe", "npm", "PyPI", "AWS", "OpenAI",
		"Hugging Face", "Notion", "Notion old", "Linear", "SendGrid", "sk plain", "sk mixed", "sk-ant"} {
		got := plugins.Redact("a " + forms[name] + " b")
		if !strings.Contains(got, "[masked]") || strings.Contains(got, forms[name][8:]) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
