package apptest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
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
