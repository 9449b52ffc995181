package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// newRedis is a server on which the mailbox's promises hold. It does not
// rewrite its file meanwhile, which would be noise.
func newRedis(b *testing.B) *redistest.Server {
	return redistest.Start(b, redistest.Config("auto-aof-rewrite-percentage", "0"))
}

// bareScript is the first durable step of a mention as a bot was seen to send
// it, to be repeated for other messages from an empty loop with one writer.
type bareScript struct {
	client     *redis.Client
	args       []string
	ts, prefix string
	turn       string
	n          int64
}

// seeScript watches one mention pass.
func seeScript(b *testing.B, server *redistest.Server, w *workspace, prefix string) *bareScript {
	b.Helper()
	watching, err := net.Dial("tcp", server.Addr())
	if err != nil {
		b.Fatal(err)
	}
	defer watching.Close()
	_ = watching.SetDeadline(time.Now().Add(10 * time.Second))
	lines := bufio.NewScanner(watching)
	lines.Buffer(nil, 1<<20)
	if _, err := watching.Write([]byte("MONITOR\r\n")); err != nil || !lines.Scan() {
		b.Fatalf("redis does not let us watch: %v, %v", err, lines.Err())
	}
	_, ts := w.mention("what is new?", simulator.SayOptions{Twin: simulator.MessageOnly})
	w.reply(ts)
	for lines.Scan() {
		args := monitored(lines.Text())
		if len(args) < 10 || args[0] != "evalsha" || !slices.Contains(args, ts) {
			continue
		}
		s := &bareScript{client: server.Client(), args: args, ts: ts, prefix: prefix}
		for _, a := range args {
			if strings.HasPrefix(a, "t_") {
				s.turn = a
			}
		}
		if s.turn == "" {
			b.Fatal("the first script of a mention offers no turn")
		}
		return s
	}
	b.Fatalf("no script of a mention was seen: %v", lines.Err())
	return nil
}

// monitored reads the arguments of one line of MONITOR; those that a script
// sent are left out.
func monitored(line string) (args []string) {
	_, rest, ok := strings.Cut(line, "] ")
	if !ok || strings.Contains(line[:len(line)-len(rest)], " lua") {
		return nil
	}
	for rest != "" {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil
		}
		arg, err := strconv.Unquote(quoted)
		if err != nil {
			return nil
		}
		args, rest = append(args, arg), strings.TrimPrefix(rest[len(quoted):], " ")
	}
	return args
}

// measure runs the script n times, each time for a new message of a new
// conversation, under keys of its own.
func (s *bareScript) measure(b *testing.B, n int) (took times) {
	b.Helper()
	for range n {
		s.n++
		replace := strings.NewReplacer(
			s.prefix+":", "bare:",
			s.ts, fmt.Sprintf("%010d.%06d", 1_000_000_000+s.n, 1),
			s.turn, fmt.Sprintf("t_%026d", s.n))
		args := make([]any, len(s.args))
		for i, a := range s.args {
			args[i] = replace.Replace(a)
		}
		start := time.Now()
		answer, err := s.client.Do(context.Background(), args...).Slice()
		took = append(took, time.Since(start))
		if err != nil || len(answer) < 7 || answer[0] != "s" {
			b.Fatalf("the bare script answers %v, %v", answer, err)
		}
	}
	return took
}
