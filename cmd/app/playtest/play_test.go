package playtest

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"reeve/slackapp/simulator/page/pagetest"
)

// Paces of the demo model's steps, in milliseconds. One holds a turn open for
// as long as anything takes here; the other lets it finish at once, also in the
// middle of a step.
const (
	held = 10_000
	free = 1
)

func open(t *testing.T, o pagetest.Options) *pagetest.Page {
	t.Helper()
	p := pagetest.Open(t, playground(t), o)
	p.Ready()
	return p
}

func setPace(p *pagetest.Page, ms int) {
	p.Run(fmt.Sprintf(`import("./wire.js").then((wire) => wire.setPace(%d))`, ms))
}

// posts are the bot's posts in the open thread.
func posts(p *pagetest.Page) []string {
	return pagetest.Value[[]string](p, `[...document.querySelectorAll("#replies .message:not(.notice)")].filter((m) => m.dataset.who === "reeve").map((m) => m.querySelector(".text").textContent)`)
}

func marked(text, reaction string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#replies .message")].find((m) => m.querySelector(".text").textContent.includes(%q)).querySelector('[data-reaction=%q]')`, text, reaction)
}

func unharmed(t *testing.T, p *pagetest.Page) {
	t.Helper()
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("the browser complains: %q", problems)
	}
}

// One's own message joins the turn that runs: the work goes on, and it arrives
// once.
func TestAMessageSentWhileTheBotWorks(t *testing.T) {
	p := open(t, pagetest.Options{})
	setPace(p, held)
	p.Begin("draft an announcement")
	p.WaitFate("draft an announcement", "start")
	p.WaitPhase("draft an announcement", "running")
	p.WaitStatus("Working for Alice")
	p.Wait("it is marked as seen", marked("draft an announcement", "eyes"))
	p.Reply("in two sentences")
	p.WaitFate("in two sentences", "steer")
	p.WaitPhase("in two sentences", "running")

	setPace(p, free)
	answer := p.WaitAnswer("You added while I worked")
	if !strings.Contains(answer, "draft an announcement") || strings.Count(strings.Join(posts(p), "\n"), "in two sentences") != 1 {
		t.Errorf("the bot said %q", posts(p))
	}
	p.WaitPhase("draft an announcement", "done")
	p.WaitPhase("in two sentences", "done")
	p.WaitStatus("Alice’s turn was answered")
	p.Wait("it is marked as answered", marked("in two sentences", "white_check_mark"))
	if n := len(posts(p)); n != 1 {
		t.Errorf("the bot posted %d times: %q", n, posts(p))
	}
	unharmed(t, p)
}

// Somebody else waits for a turn of his own, unless he forces his words in; and
// then they are information.
func TestBobWaitsAndForces(t *testing.T) {
	p := open(t, pagetest.Options{})
	setPace(p, held)
	p.Begin("draft an announcement")
	p.WaitPhase("draft an announcement", "running")
	p.As("Bob")
	p.Reply("when is the all-hands?")
	p.WaitFate("when is the all-hands?", "wait")
	p.WaitPhase("when is the all-hands?", "waiting")
	p.Wait("Bob is told in private", `document.querySelector("#replies [data-private=UBOB]")`)
	p.Wait("Bob stands in the queue", `document.querySelector("#status [data-waits=UBOB]")`)
	p.Force("moved to Tuesday")
	p.WaitFate("moved to Tuesday", "steer_context")
	p.WaitStatus("Working for Alice")
	p.WaitStatus("What Bob added is information")

	setPace(p, free)
	first := p.WaitAnswer("added, as information")
	if !strings.Contains(first, "draft an announcement") || !strings.Contains(first, "moved to Tuesday") || strings.Contains(first, "all-hands") {
		t.Errorf("Alice was answered %q", first)
	}
	p.WaitPhase("when is the all-hands?", "done")
	second := p.WaitAnswer("when is the all-hands?")
	if strings.Contains(second, "added, as information") || len(posts(p)) != 2 {
		t.Errorf("the bot said %q", posts(p))
	}
	unharmed(t, p)
}

// What spends Alice's rights waits for her word once Bob has steered her turn, and
// is done when she has given it; of a turn that is hers alone she is not asked.
func TestACardAsksAlice(t *testing.T) {
	p := open(t, pagetest.Options{})
	setPace(p, free)
	p.Begin("read #general for me")
	if answer := p.WaitAnswer("Reading #general"); !strings.Contains(answer, "From CGENERAL") {
		t.Errorf("the bot said %q", answer)
	}
	setPace(p, held)
	p.Begin("now read #general again")
	p.WaitPhase("read #general again", "running")
	p.As("Bob")
	p.Force("it was #random")
	p.WaitFate("it was #random", "steer_context")
	p.As("Alice")
	setPace(p, free)
	p.WaitPhase("read #general again", "parked")
	p.WaitStatus("Alice is asked in direct messages")
	p.Click(`[data-place="DALICE"]`)
	const card = `#roots .message:has(input[data-tick]) .text`
	p.Wait("a card asks", fmt.Sprintf(`document.querySelector(%q)?.textContent.includes("read_channel")`, card))
	p.Click(card + ` input[data-tick]`)
	p.Click(card + ` .primary`)
	p.Wait("the card is a record", fmt.Sprintf(`document.querySelector(%q) === null`, card))
	p.Click(`[data-place="CGENERAL"]`)
	p.Run(`[...document.querySelectorAll("#roots .message")].find((m) => m.textContent.includes("read #general again")).querySelector(".open").click()`)
	if answer := p.WaitAnswer("Reading #general"); !strings.Contains(answer, "From CGENERAL") || !strings.Contains(answer, "Bob added, as information") {
		t.Errorf("the bot said %q", answer)
	}
	unharmed(t, p)
}

// Anybody may stop a turn; whose it was hears by whom.
func TestSomebodyStopsIt(t *testing.T) {
	p := open(t, pagetest.Options{})
	setPace(p, held)
	p.Begin("draft an announcement")
	p.WaitPhase("draft an announcement", "running")
	p.As("Carol")
	p.Click("#stop")
	p.WaitFate("stop", "stop")
	p.WaitPhase("draft an announcement", "stopped")
	p.WaitStatus("Alice’s turn was stopped")
	if said := p.WaitAnswer("Stopped"); said != "Stopped by @Carol." {
		t.Errorf("the bot said %q", said)
	}
	p.Reply("stop")
	p.WaitFate("stop", "nothing_running")
	unharmed(t, p)
}

func TestADirectMessageIsAnswered(t *testing.T) {
	p := open(t, pagetest.Options{})
	setPace(p, free)
	p.Click(`[data-place="DALICE"]`)
	p.Begin("what time is it?")
	p.WaitFate("what time is it?", "start")
	p.WaitAnswer("Europe/Berlin")
	unharmed(t, p)
}

func TestThePaceIsSetOnThePage(t *testing.T) {
	p := open(t, pagetest.Options{})
	p.Wait("the pace is shown", `document.querySelector("#pace input:checked").value === "1500"`)
	p.Click(`#pace label:last-child input`)
	p.Wait("it is slow", `document.querySelector("#pace input:checked").value === "4000"`)
	again := pagetest.Value[int](p, `import("./wire.js").then(async (wire) => { for (;;) { const now = await wire.pace(); if (now.ms === 4000) return now.ms; } })`)
	if again != 4000 {
		t.Errorf("the pace is %d", again)
	}
	unharmed(t, p)
}

// Whoever can reach the port without the address that was printed changes nothing.
func TestThePaceWantsTheKey(t *testing.T) {
	address := playground(t)
	base, key, found := strings.Cut(address, "/?key=")
	if !found {
		t.Fatalf("the address is %s", address)
	}
	for sent, want := range map[string]int{"": http.StatusForbidden, "0123": http.StatusForbidden, key: http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", base+"/play/pace", strings.NewReader(`{"ms": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Sim-Key", sent)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("with the key %q it answers %s", sent, answer.Status)
		}
	}
}

var screenshot = flag.String("screenshot", "", "file into which TestScreenshot writes a picture of the page")

// TestScreenshot plays the scene of the README, and takes its picture when it
// is asked to.
func TestScreenshot(t *testing.T) {
	p := open(t, pagetest.Options{Width: 1320, Height: 850, Scale: 1.2})
	setPace(p, free)
	p.Begin("what time is it?")
	p.WaitPhase("what time is it?", "done")
	setPace(p, held)
	p.Begin("draft a short announcement of our launch")
	p.WaitPhase("draft a short announcement", "running")
	p.Reply("two sentences, please")
	p.WaitFate("two sentences", "steer")
	p.As("Bob")
	p.Reply("when is the next all-hands?")
	p.WaitFate("all-hands", "wait")
	p.Wait("Bob is told in private", `document.querySelector("#replies [data-private=UBOB]")`)
	p.Wait("his message is marked", marked("all-hands", "hourglass_flowing_sand"))
	p.Force("the launch has moved to Tuesday")
	p.WaitFate("moved to Tuesday", "steer_context")
	if *screenshot != "" {
		p.Screenshot(*screenshot)
	}
	setPace(p, free) // so that the end need not wait for the step
	unharmed(t, p)
}
