//go:build !linux

package redistest

import "os/exec"

// dieWithParent does nothing here: only Linux tells a child of its parent's
// death. The test's clean-up ends the server all the same.
func dieWithParent(*exec.Cmd) {}
