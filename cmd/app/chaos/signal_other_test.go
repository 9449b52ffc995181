//go:build !linux

package chaos

import (
	"os"
	"syscall"
)

// sendSelf: elsewhere the caller may go on for a moment.
func sendSelf(signal syscall.Signal) { _ = syscall.Kill(os.Getpid(), signal) }
