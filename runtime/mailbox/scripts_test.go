package mailbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var updateScripts = flag.Bool("update", false, "rewrite the golden files in testdata")

// scriptsGolden has each script's name and a digest of what it does, with what
// stands in front of it.
const scriptsGolden = "testdata/scripts.golden"

// A script's name says what it does, to whoever reads the log of a store on
// which two releases work. So what is done under one name does not change from one
// release to the next.
func TestAScriptThatDoesSomethingElseHasAnotherName(t *testing.T) {
	now := digests()
	if *updateScripts {
		if err := os.WriteFile(scriptsGolden, now, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(scriptsGolden)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(kept, now) {
		return
	}
	was := map[string]string{}
	for line := range strings.Lines(string(kept)) {
		name, digest, _ := strings.Cut(strings.TrimSpace(line), " ")
		was[name] = digest
	}
	var changed []string
	for line := range strings.Lines(string(now)) {
		name, digest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if was[name] != digest {
			changed = append(changed, name)
		}
	}
	t.Errorf("these scripts, or what stands in front of them, do something else than %s says: %s\n"+
		"If a release has gone out with a name, and processes of it could be surprised by what the script does now,\n"+
		"give it the next _vN in scripts.go. Then: go test ./runtime/mailbox -run=%s -update",
		scriptsGolden, strings.Join(changed, " "), t.Name())
}

// comment is a line that no script carries out.
var comment = regexp.MustCompile(`(?m)^\s*(--.*)?\n|\s+--[^'\n]*$`)

func digests() []byte {
	var all bytes.Buffer
	for _, s := range newScripts(false, Options{Retention: time.Hour, Untouched: time.Hour}).all() {
		sum := sha256.Sum256([]byte(comment.ReplaceAllString(s.source, "")))
		fmt.Fprintln(&all, s.name, hex.EncodeToString(sum[:8]))
	}
	return all.Bytes()
}
