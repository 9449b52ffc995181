//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

// There are no groups here: what a process has started ends by itself.
func ownGroup(*exec.Cmd) {}

func terminateGroup(int) {}

func killGroup(leader int) {
	if process, err := os.FindProcess(leader); err == nil {
		_ = process.Kill()
	}
}
