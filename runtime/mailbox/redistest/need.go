package redistest

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// oldest is the first major version whose scripts may carry a "#!lua" header.
const oldest = 7

// need ends the test, saying what to install, where there is no usable server.
func need(t testing.TB) {
	t.Helper()
	if err := usable(); err != nil {
		t.Fatal(err)
	}
}

var usable = sync.OnceValue(func() error {
	out, err := exec.Command("redis-server", "--version").Output()
	if err != nil {
		return fmt.Errorf("redis-server is needed and does not run: %w\n%s", err, install)
	}
	return checkVersion(string(out))
})

const install = "install Redis 7.0 or newer: apt-get install redis-server (Debian, Ubuntu), " +
	"brew install redis (macOS), or https://redis.io/docs/latest/operate/oss_and_stack/install/"

var versionPattern = regexp.MustCompile(`\bv=(\d+)\.`)

// checkVersion judges what redis-server --version prints.
func checkVersion(printed string) error {
	found := versionPattern.FindStringSubmatch(printed)
	if found == nil {
		return fmt.Errorf("redis-server is needed and does not say its version: %q\n%s", printed, install)
	}
	if major, err := strconv.Atoi(found[1]); err != nil || major < oldest {
		return fmt.Errorf("redis-server is too old: %q\n%s", printed, install)
	}
	return nil
}
