package moods

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/cmd/app/apptest/shipped"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// aged are intervals of a replica to which two seconds are a day.
var aged = func() apptest.Intervals {
	set := signing
	set.Untouched = 2 * time.Second
	return set
}()

// signing gives signs of life so often that one stands in a copy.
var signing = func() apptest.Intervals {
	set := shorter
	set.StampEvery, set.GapAfter = 100*time.Millisecond, 500*time.Millisecond
	return set
}()

// The drill of docs/reliability.md, with the commands that it names: a copy is
// made while a turn runs, a message waits and an answer is not posted yet; all of
// that goes on; and then the copy is restored into a new server. What was open in
// it is listed and told of and not gone on with by itself, what is posted already
// is not posted again, and an operator decides about the rest.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	shipped.Binary(t) // which takes its time to be built, and must not take the play's
	for _, kind := range []string{"a dump", "the append-only file"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			d := &drill{place: newPlace(t, server), dir: t.TempDir(), server: server}
			d.restores(kind == "a dump")
		})
	}
}

// drill is a place with an operator's shell.
type drill struct {
	*place
	dir    string
	server *redistest.Server // that the shell speaks to
}

func (d *drill) restores(dump bool) {
	t := d.t
	r := d.StartOther(t, signing)
	d.Quiet(signing.GapAfter)
	held, release := scripted.Answer("answer of the first life").Held()
	defer release()
	d.Model.Then(held)
	running := d.asked[d.asks(simulator.Alice)]
	d.Asked(t, 1)
	d.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> question 1000", simulator.SayOptions{Thread: running})
	post := d.Slack.Hold("chat.postMessage")
	defer post()
	unsent := d.asks(simulator.Carol)
	if err := d.Slack.WaitHeld(t.Context(), "chat.postMessage", 1); err != nil {
		t.Fatal(err)
	}
	d.Until(t, "all is acknowledged", func() bool { return d.Slack.Unacknowledged() == 0 })
	if dump {
		d.shell("redis-cli --rdb backup.rdb")
	} else {
		d.shell("cp -r appendonlydir backup")
	}
	copied := time.Now()

	post()
	release()
	d.Answered(t, simulator.General, running, "answer of the first life", "answer to question 1000")
	later := d.asks(simulator.Alice)
	d.Answered(t, simulator.General, d.asked[later], "answer to "+later)
	d.Answered(t, simulator.General, d.asked[unsent], "answer to "+unsent)
	r.Kill()
	d.server.Kill()
	d.restore(dump)

	if out := d.shell("reeve turns"); !strings.Contains(out, " running ") || !strings.Contains(out, " waiting ") {
		t.Errorf("the copy holds:\n%s", out)
	}
	if dump {
		d.shell("redis-cli DEL reeve:alive")
	}
	// Until what stands in the copy is a day old.
	<-time.After(time.Until(copied.Add(aged.LeaseTTL + aged.Untouched + time.Second)))
	calls := len(d.Model.Requests())
	next := d.StartOther(t, aged, "REDIS_URL="+d.server.URL())
	for _, dm := range []string{simulator.AliceDM, simulator.BobDM} {
		if told := d.Posted(t, dm, "", 1); !strings.Contains(apptest.ShownText(told[0]), "left lying") {
			t.Errorf("told in %s: %q", dm, apptest.ShownText(told[0]))
		}
	}
	if dump {
		d.Quiet(aged.LeaseTTL)
		d.Answered(t, simulator.General, d.asked[later], "answer to "+later)
	} else {
		// All since the copy was made is read back, and answered again.
		d.Answered(t, simulator.General, d.asked[later], "answer to "+later, "answer to "+later)
		calls++
		d.Quiet(aged.LeaseTTL)
	}
	d.Answered(t, simulator.General, running, "answer of the first life", "answer to question 1000")
	d.Answered(t, simulator.General, d.asked[unsent], "answer to "+unsent)
	if n := len(d.Model.Requests()); n != calls {
		t.Errorf("the model was asked %d times after the restore", n-calls)
	}
	d.decides()
	text := d.asks(simulator.Carol)
	d.Answered(t, simulator.General, d.asked[text], "answer to "+text)
	next.Term(t)
}

// decides: the operator looks at all there is, lets one of the two go on and
// ends the other.
func (d *drill) decides() {
	t := d.t
	out := d.shell("reeve turns")
	if n := strings.Count(out, "nobody touched it for a day: resume or abandon it"); n != 2 || strings.Count(out, "\n") != 3 {
		t.Errorf("%d requests are listed as untouched:\n%s", n, out)
	}
	of := func(user string) string {
		row := regexp.MustCompile(`(?m)^(\w+) +parked .* T1:` + user + ` `).FindStringSubmatch(out)
		if row == nil {
			t.Fatalf("no turn of %s in:\n%s", user, out)
		}
		return row[1]
	}
	if out := d.shell("reeve outbox"); out != "everything is posted\n" {
		t.Errorf("the outbox: %s", out)
	}
	if out := d.shell("reeve dead"); out != "nothing was set aside\n" {
		t.Errorf("set aside: %s", out)
	}
	d.shell("reeve turn ID resume", of(simulator.Alice))
	d.Posted(t, simulator.General, d.asked["question 1"], 3)
	d.shell("reeve turn ID abandon", of(simulator.Bob))
	if told := d.Posted(t, simulator.BobDM, "", 2); !strings.Contains(apptest.ShownText(told[1]), "has ended the work") {
		t.Errorf("Bob is told %q", apptest.ShownText(told[1]))
	}
	d.Until(t, "nothing is open", func() bool { return d.shell("reeve turns") == "nothing is open\n" })
}

// restore gives a new server what was copied, as the page says.
func (d *drill) restore(dump bool) {
	from := filepath.Join(d.dir, "backup")
	if dump {
		// A server that is told to keep an append-only file reads no dump.
		d.server = redistest.Start(d.t, redistest.Config("appendonly", "no"), redistest.Config("dbfilename", "backup.rdb"))
		d.server.Stop()
		d.copy(filepath.Join(d.dir, "backup.rdb"), d.server.Dir())
		d.server.Restart()
		d.shell("redis-cli CONFIG SET appendonly yes")
		d.Until(d.t, "the append-only file is written", func() bool {
			defer d.Wake()
			out := d.shell("redis-cli INFO persistence")
			return strings.Contains(out, "aof_rewrite_in_progress:0\r") && strings.Contains(out, "aof_last_bgrewrite_status:ok\r")
		})
		d.server.Stop()
		from = filepath.Join(d.server.Dir(), "appendonlydir")
	}
	d.server = redistest.Start(d.t)
	d.server.Stop()
	if err := os.RemoveAll(filepath.Join(d.server.Dir(), "appendonlydir")); err != nil {
		d.t.Fatal(err)
	}
	d.copy(from, filepath.Join(d.server.Dir(), "appendonlydir"))
	d.server.Restart()
}

func (d *drill) copy(from, to string) {
	if out, err := exec.Command("cp", "-r", from, to).CombinedOutput(); err != nil {
		d.t.Fatalf("copy: %v: %s", err, out)
	}
}

// shell runs a command of the page, which must stand there, in the operator's
// shell: beside the server's files, and with the settings of the bot.
func (d *drill) shell(command string, id ...string) string {
	t := d.t
	t.Helper()
	if !strings.Contains(restoring(t), command) {
		t.Errorf("docs/reliability.md does not name %q", command)
	}
	for _, id := range id {
		command = strings.Replace(command, "ID", id, 1)
	}
	host, port, _ := strings.Cut(d.server.Addr(), ":")
	if strings.HasPrefix(command, "cp ") {
		command = strings.Replace(command, "appendonlydir", filepath.Join(d.server.Dir(), "appendonlydir"), 1)
	}
	command = strings.Replace(command, "redis-cli", fmt.Sprintf("redis-cli -h %s -p %s", host, port), 1)
	sh := exec.CommandContext(t.Context(), "sh", "-c", command)
	sh.Dir = d.dir
	sh.Env = append(d.Env[:len(d.Env):len(d.Env)], "REDIS_URL="+d.server.URL(), "PATH="+filepath.Dir(shipped.Binary(t))+":"+os.Getenv("PATH"))
	var errors strings.Builder
	sh.Stderr = &errors
	out, err := sh.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", command, err, out, &errors)
	}
	return string(out)
}

// restoring is what the page says of the drill.
func restoring(t *testing.T) string {
	page, err := os.ReadFile("../../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Restoring a backup\n")
	if !found {
		t.Fatal("docs/reliability.md has no such section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}
