// Package shipped finds the binary that people run, for the tests of many
// packages: it is linked once for all of them.
package shipped

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Binary is the path of Reeve as it is shipped, made of the code as it is now.
// Whoever starts it by its name has its folder in PATH.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("build reeve: %v", err)
	}
	return path
}

// The go command keeps what go run has linked, and says where when it is to run
// it by echo. What it has only just linked stands elsewhere, and is gone with
// the run: then it is asked again.
var binary = sync.OnceValues(func() (string, error) {
	for range 2 {
		var said strings.Builder
		run := exec.Command("go", "run", "-exec=echo", "reeve/cmd/reeve")
		run.Stderr = &said
		out, err := run.Output()
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, said.String())
		}
		path := strings.TrimSpace(string(out))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("go run keeps no binary")
})
