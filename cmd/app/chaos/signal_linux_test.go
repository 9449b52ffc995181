package chaos

import (
	"os"
	"runtime"
	"syscall"
)

// sendSelf lets the calling thread get the signal, so that it has taken effect
// before the next line: one for the process may be left to a thread that sleeps,
// and the caller goes on meanwhile.
func sendSelf(signal syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(signal))
}
