package conformance

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/cmd/app/apptest/nodetest"
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
	nodetest.Install(t, filepath.Join("testdata", "node"))
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
