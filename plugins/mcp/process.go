package mcp

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins"
)

// handedOn are the variables that a server's process has of Reeve's own
// environment: what programs need to find their files, and no secret.
var handedOn = []string{
	"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
	"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
}

// process is a server that runs beside Reeve and speaks over its standard input
// and output. It has a group of its own, so that what it has started ends with
// it, and so that a Ctrl-C is not its business.
type process struct {
	command *exec.Cmd
	input   *os.File // its standard input
	output  *os.File // its standard output
	ended   chan struct{}
	said    *tail
}

// startProcess starts the command. The environment is never nil, which would
// mean all of Reeve's own.
func startProcess(c serverConfig, environ []string, mask mask, log *slog.Logger) (p *process, err error) {
	inputRead, inputWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start process: %w", err)
	}
	outputRead, outputWrite, err := os.Pipe()
	if err != nil {
		closeAll(inputRead, inputWrite)
		return nil, fmt.Errorf("start process: %w", err)
	}
	p = &process{
		command: exec.Command(c.Command, c.Args...), input: inputWrite, output: outputRead, ended: make(chan struct{}),
		said: &tail{mask: mask, log: log},
	}
	p.command.Dir = c.Cwd
	p.command.Env = environment(c, environ)
	p.command.Stdin, p.command.Stdout, p.command.Stderr = inputRead, outputWrite, p.said
	// What it has started may hold its standard error open for ever.
	p.command.WaitDelay = time.Second
	ownGroup(p.command)
	err = p.command.Start()
	closeAll(inputRead, outputWrite)
	if err != nil {
		closeAll(inputWrite, outputRead)
		return nil, fmt.Errorf("start process: %w", err)
	}
	go func() {
		_ = p.command.Wait()
		// What it has started ends with it. The number of its group is not
		// given to anybody else while somebody is in it.
		killGroup(p.command.Process.Pid)
		close(p.ended)
		// The rest of what it wrote is read; what holds its output open
		// beyond that is not waited for.
		time.AfterFunc(p.command.WaitDelay, func() { closeAll(p.output) })
	}()
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// environment is the process's: the operator's variables win.
func environment(c serverConfig, environ []string) []string {
	has := []string{}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		for _, known := range handedOn {
			if strings.EqualFold(name, known) {
				has = append(has, pair)
			}
		}
	}
	for name, value := range c.Env {
		has = append(has, name+"="+value)
	}
	return has
}

// transport speaks with the process.
func (p *process) transport(limit int, dropped func(string)) sdk.Transport {
	return &sdk.IOTransport{Reader: output{newFrames(p.output, limit, false, dropped), p.output}, Writer: p.input}
}

type output struct {
	*frames
	file *os.File
}

func (o output) Close() error { return o.file.Close() }

// stop ends the process, and the group that it leads: first its input is
// closed, then SIGTERM is sent, and at last it is killed. Nothing is left when
// stop returns.
func (p *process) stop(grace time.Duration) {
	_ = p.input.Close()
	for _, end := range []func(int){terminateGroup, killGroup} {
		select {
		case <-p.ended:
		case <-time.After(grace):
			end(p.command.Process.Pid)
		}
	}
	<-p.ended
	_ = p.output.Close()
}

// tail is the end of what a process wrote to its standard error. It is logged
// too, at the level debug, for nobody knows what it holds.
type tail struct {
	mask mask
	log  *slog.Logger

	mu   sync.Mutex
	line []byte // unfinished
	last []string
}

// What is kept is bounded. A line is cut after it was masked, so that no part of
// a secret is left over.
const (
	tailLines = 5
	tailLine  = 500
	tailRaw   = 8 * tailLine
)

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for part := range bytes.Lines(data) {
		if room := tailRaw - len(t.line); room > 0 {
			t.line = append(t.line, bytes.TrimRight(part[:min(len(part), room)], "\r\n")...)
		}
		if !bytes.HasSuffix(part, []byte("\n")) {
			break
		}
		t.keep()
	}
	return len(data), nil
}

func (t *tail) keep() {
	line := plugins.CutMiddle(strings.TrimSpace(t.mask.text(string(t.line))), tailLine)
	t.line = t.line[:0]
	if line == "" {
		return
	}
	t.log.Debug("server said", "line", line)
	t.last = append(t.last, line)
	t.last = t.last[max(0, len(t.last)-tailLines):]
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep()
	return strings.Join(t.last, " | ")
}
