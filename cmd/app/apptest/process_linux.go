package apptest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"
)

func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// Frozen reports whether the process stands still (SIGSTOP).
func (p *Process) Frozen() bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(rest, "T")
}

// The kernel's words for waitid, which the standard library has not.
const (
	pPID                                = 1
	wNoHang, wStopped, wExited, wNoWait = 0x1, 0x2, 0x4, 0x1000000
	cldStopped                          = 5
)

// watchStops calls look whenever a child stands still, until it is gone. What it
// learns of the child's end it leaves to whoever waits for that.
func watchStops(pid int, look func()) {
	for {
		code, err := waitid(pid, wStopped|wExited|wNoWait)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || code != cldStopped {
			return
		}
		_, _ = waitid(pid, wStopped|wNoHang) // so that it is not told of again
		look()
	}
}

func waitid(pid int, options uintptr) (code int32, err error) {
	var info [32]int32 // siginfo_t: signal, error, code, ...
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), options, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return info[2], nil
}
