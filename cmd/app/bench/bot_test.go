package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// bot is one bot in a process of its own.
type bot struct {
	b       *testing.B
	process *os.Process
	started time.Time
	ended   chan struct{}
}

// place is where a bot works.
type place struct {
	slack  *simulator.Server
	model  *provider
	redis  string // URL
	prefix string
}

func (p place) environment() []string {
	return []string{
		"SLACK_BOT_TOKEN=" + p.slack.BotToken(), "SLACK_APP_TOKEN=" + p.slack.AppToken(), "SLACK_API_URL=" + p.slack.APIURL(),
		"OPENAI_BASE_URL=" + p.model.url, "OPENAI_MODEL=bench", "REDIS_URL=" + p.redis, "REDIS_PREFIX=" + p.prefix,
		profileVariable + "=" + os.Getenv(profileVariable), "PATH=" + os.Getenv("PATH"),
	}
}

// startRole starts this binary as a bot, and waits for its sockets.
func startRole(b *testing.B, role string, p place) *bot {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	sockets := 1
	if role == roleReeve {
		sockets = 2
	}
	return startBot(b, role, p, p.slack.Sockets()+sockets, []string{self}, roleVariable+"="+role)
}

func startBot(b *testing.B, name string, p place, sockets int, command []string, more ...string) *bot {
	b.Helper()
	dir := b.TempDir()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(p.environment(), more...), log, log
	started := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	bot := &bot{b: b, process: cmd.Process, started: started, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(bot.ended)
	}()
	b.Cleanup(func() {
		bot.stop()
		if b.Failed() {
			text, _ := os.ReadFile(log.Name())
			b.Logf("%s said:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
	ctx, cancel := patience()
	defer cancel()
	if err := p.slack.WaitConnected(ctx, sockets); err != nil {
		b.Fatalf("%s does not connect: %v", name, err)
	}
	return bot
}

// patience bounds what should be a matter of moments.
func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}

// stop ends the bot as an operator would.
func (o *bot) stop() {
	_ = o.process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case <-o.ended:
	case <-timer.C:
		o.kill()
	}
}

// kill ends it as a crash would.
func (o *bot) kill() {
	_ = o.process.Kill()
	<-o.ended
}

// resident is the process's resident memory in MB; 0 where there is no /proc.
func (o *bot) resident() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// cpu is the time that the process has worked; 0 where there is no /proc.
func (o *bot) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", o.process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	const tick = 10 * time.Millisecond // of /proc, everywhere
	return time.Duration(user+system) * tick
}
