// Package playtest plays the playground as its people do: the built binary, and
// a headless Chromium on the address that it prints.
//
//	go test ./cmd/app/playtest -run TestScreenshot -screenshot "$PWD/docs/playground.png"
//
// takes the picture of the README anew.
package playtest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"reeve/cmd/app/apptest/shipped"
	"reeve/slackapp/simulator/page/pagetest"
)

func TestMain(m *testing.M) { pagetest.Main(m) }

// playground starts "reeve playground" with nothing set, and answers the
// address that it prints. It is interrupted at the end of the test, and must
// then end well.
func playground(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(shipped.Binary(t), "playground")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir}
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the playground ended with %v", err)
		}
		if t.Failed() {
			t.Logf("its log:\n%s", log.String())
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), "http://"); found {
			return "http://" + strings.Fields(address)[0]
		}
	}
	t.Fatalf("it printed no address:\n%s", log.String())
	return ""
}
