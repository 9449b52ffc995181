package conformance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// scenarios are what the script must report: one that it forgets is missed.
var scenarios = []string{
	"auth_test", "connect_event_ack", "redelivery", "mention_twins", "posts_and_replies", "update_reactions_ephemeral",
	"rate_limit_honoured", "stays_connected", "reconnect", "interactive", "files", "all_acknowledged_and_closed",
}

// budget for the script; the installation has its own.
const budget = time.Minute

func TestConformanceNode(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is needed for the conformance run and was not found. "+
				"Install Node.js 20 or newer with npm (on Debian: apt-get install nodejs npm) and run again.", tool)
		}
	}
	install(t)
	s := simulator.ForTest(t, simulator.Options{
		AckTimeout: 500 * time.Millisecond, RetryScale: 1e-9, DisconnectGrace: 50 * time.Millisecond,
	})
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	script := exec.CommandContext(ctx, "node", "conformance.mjs", s.URL(), s.Key(), s.BotToken(), s.AppToken())
	script.Dir = filepath.Join("testdata", "node")
	out, err := script.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the script was not done within %v; it said:\n%s", budget, out)
	}
	results := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "ok "); ok {
			results[name] = "ok"
		} else if rest, ok := strings.CutPrefix(line, "not ok "); ok {
			name, why, _ := strings.Cut(rest, ": ")
			results[name] = why
		}
	}
	for _, name := range scenarios {
		t.Run(name, func(t *testing.T) {
			switch results[name] {
			case "ok":
			case "":
				t.Errorf("not reported; the script said:\n%s", out)
			default:
				t.Error(results[name])
			}
		})
	}
	if err != nil && !t.Failed() {
		t.Errorf("script ended with %v:\n%s", err, out)
	}
}

// install brings the packages that the lock file names, once for each version
// of that file.
func install(t *testing.T) {
	t.Helper()
	dir := filepath.Join("testdata", "node")
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	want := hex.EncodeToString(sum[:])
	stamp := filepath.Join(dir, "node_modules", ".installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm ci in %s: %v\n%s\nThe npm registry must be reachable the first time.", dir, err, out)
	}
	if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
