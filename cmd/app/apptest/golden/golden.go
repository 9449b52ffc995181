// Package golden compares what the code makes with files that are read in
// review. A package's tests that use it know the flag -update.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that are made from code")

// Holds compares a file with what the code makes of it, or rewrites it under
// -update.
func Holds(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the code makes of it; run go test with -update and read the difference (-want +got):\n%s", file, diff)
	}
}
