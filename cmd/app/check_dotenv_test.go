package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/plugins"
)

func TestCheckOfDotenv(t *testing.T) {
	compiled := []plugins.Plugin{named("mcp"), named("lunch"), named("echo"), named("slack")}
	for _, c := range []struct {
		text string
		mode os.FileMode
		want []string
	}{
		{"SLACK_BOT_TOKEN=" + fakeBot + "\nOPENAI_MODEL=m\n", 0o600, nil},
		{"OPENAI_MODEL=m\nSLACK_BOT_TOKEN=\n", 0o644, nil},
		{"SLACK_BOT_TOKEN=" + fakeBot, 0o644, []string{"everybody on this machine can read it, and it holds SLACK_BOT_TOKEN; fix: chmod 600"}},
		{"ALLOWED_USER=U7\nNONSENSE=1\n", 0o600, []string{
			"ALLOWED_USER is no setting; fix: take it out, or correct its name (did you mean ALLOWED_USERS?)", "NONSENSE is no setting; fix: take it out, or correct its name",
		}},
		// Those of plugins and providers are settings too.
		{"GITHUB_CLIENT_ID=x\nACME_SCOPES=a\nECHO_KEEP=3\nMCP_KEY=k\nLUNCH_SEATS=4\n", 0o600, nil},
		{"ECHO_KEEPS=3\nSLACK_TOKEN=x\nOTHER_CLIENT_ID=x\n", 0o600, []string{
			"ECHO_KEEPS is no setting; fix: take it out, or correct its name (did you mean ECHO_KEEP?)", "OTHER_CLIENT_ID is no setting", "SLACK_TOKEN is no setting",
		}},
		{"ACME_CLIENT_SECRET=" + fakeKey, 0o644, []string{"it holds ACME_CLIENT_SECRET; fix: chmod 600"}},
		{"MCP_KEY=" + fakeKey, 0o644, []string{"it holds MCP_KEY; fix: chmod 600"}},
		{"what cannot be read", 0o600, nil},
	} {
		file := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		found := checkDotenv(file, []string{"acme"}, compiled)
		if len(found) != len(c.want) {
			t.Errorf("%q: %v", c.text, found)
			continue
		}
		for i, f := range found {
			if line := fmt.Sprint(f); f.result != warned || !strings.Contains(line, c.want[i]) || strings.Contains(line, fakeBot) || strings.Contains(line, fakeKey) {
				t.Errorf("%q: %s", c.text, line)
			}
		}
	}
	if found := checkDotenv(filepath.Join(t.TempDir(), "none"), nil, nil); found != nil {
		t.Error(found)
	}
}
