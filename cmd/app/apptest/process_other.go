//go:build !linux

package apptest

import "os/exec"

// dieWithParent: elsewhere a child can outlive a test binary that crashes.
func dieWithParent(*exec.Cmd) {}

// Frozen is only known on Linux; elsewhere whoever waits for it waits in vain.
func (p *Process) Frozen() bool { return false }

func watchStops(int, func()) {}
