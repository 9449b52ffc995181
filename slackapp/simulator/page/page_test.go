package page_test

import (
	"testing"

	"github.com/slack-go/slack"

	"reeve/slackapp/simulator"
	"reeve/slackapp/simulator/page/pagetest"
)

// The whole play, each fate as it comes: Alice asks and adds, Bob waits and
// forces, Carol stops.
func TestEachFateIsShownAsItHappens(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Begin("draft an announcement")
	root := b.heard("draft an announcement")
	b.decides(root, root, "UALICE", "start", attrs{"turn": "t_000000alice1"})
	b.runs("t_000000alice1", root, "UALICE", root)
	b.reacts(root, "eyes")
	p.WaitFate("draft an announcement", "start")
	p.WaitPhase("draft an announcement", "running")
	p.WaitStatus("Working for Alice")
	p.WaitStatus("Acts on Alice’s authority alone")

	p.Reply("two sentences")
	steer := b.heard("two sentences")
	b.decides(root, steer, "UALICE", "steer", attrs{"turn": "t_000000alice1"})
	b.decides(root, steer, "UALICE", "duplicate", attrs{"turn": "t_000000alice1", "first": "steer"})
	p.WaitFate("two sentences", "steer")

	p.As("Bob")
	p.Reply("when is the all-hands?")
	waits := b.heard("all-hands")
	b.decides(root, waits, "UBOB", "wait", attrs{"runs": "T1:UALICE"})
	p.WaitFate("when is the all-hands?", "wait")
	p.WaitPhase("when is the all-hands?", "waiting")
	p.Wait("Bob stands in the queue", `document.querySelector("#status [data-waits=UBOB]")`)

	p.Force("moved to Tuesday")
	forced := b.heard("moved to Tuesday")
	b.decides(root, forced, "UBOB", "steer_context", attrs{"turn": "t_000000alice1", "forced": true})
	p.WaitFate("!! moved to Tuesday", "steer_context")
	p.WaitStatus("What Bob added is information")

	b.answers(root, "Here it is.")
	p.WaitAnswer("Here it is.")
	b.ends("t_000000alice1", root, "done", root, steer, forced)
	b.runs("t_00000000bob1", root, "UBOB", waits)
	p.WaitPhase("draft an announcement", "done")
	p.WaitPhase("two sentences", "done")
	p.WaitPhase("when is the all-hands?", "running")
	p.WaitStatus("Working for Bob")

	p.As("Carol")
	p.Click("#stop")
	stop := b.heard("stop")
	b.decides(root, stop, "UCAROL", "stop", attrs{"turn": "t_00000000bob1", "runs": "T1:UBOB"})
	p.WaitStatus("Carol stops it")
	b.ends("t_00000000bob1", root, "stopped", waits)
	p.WaitPhase("when is the all-hands?", "stopped")
	p.WaitStatus("Bob’s turn was stopped")

	steps := pagetest.Value[string](p, `[...document.querySelectorAll("#steps [data-seen]")].map((s) => s.dataset.step).join(" ")`)
	if steps != "start steer wait forced stop" {
		t.Errorf("the guide has seen %q", steps)
	}
	if again := p.Text(`#replies .message:nth-child(2) .why`); again != "Joined Alice’s own turn. Answered. Delivered 2 times, counted once." {
		t.Errorf("the steer says %q", again)
	}
	// A page that is opened later says the same.
	late := pagetest.Open(t, b.slack.PageURL(), pagetest.Options{})
	late.Ready()
	late.Click(`#roots [data-ts="` + root + `"] .open`)
	late.WaitPhase("two sentences", "done")
	late.WaitStatus("Bob’s turn was stopped")
	if problems := append(p.Problems(), late.Problems()...); len(problems) > 0 {
		t.Errorf("the browser complains: %q", problems)
	}
}

func TestWhatWaitsIsTakenBackOrComesLate(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Begin("first")
	root := b.heard("first")
	b.decides(root, root, "UALICE", "start", attrs{"turn": "t_1"})
	b.runs("t_1", root, "UALICE", root)
	p.As("Bob")
	p.Reply("one more")
	waits := b.heard("one more")
	b.decides(root, waits, "UBOB", "wait", attrs{"runs": "T1:UALICE"})
	p.WaitPhase("one more", "waiting")
	p.Reply("stop")
	stop := b.heard("stop")
	b.decides(root, stop, "UBOB", "stop", attrs{"turn": "t_1", "runs": "T1:UALICE", "withdrawn": 1})
	p.WaitPhase("one more", "withdrawn")
	p.As("Alice")
	p.Reply("late word")
	late := b.heard("late word")
	b.decides(root, late, "UALICE", "steer", attrs{"turn": "t_1"})
	p.WaitFate("late word", "steer")
	b.ends("t_1", root, "stopped", root)
	p.WaitPhase("late word", "waiting")
	b.runs("t_2", root, "UALICE", late)
	p.WaitPhase("late word", "running")
	b.ends("t_2", root, "failed", late)
	p.WaitPhase("late word", "failed")
	p.WaitStatus("Alice’s turn was given up")
}

func TestANoticeIsShownToItsPersonAlone(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Begin("something")
	root := b.heard("something")
	_, err := b.api.PostEphemeralContext(b.within(), simulator.General, "UBOB", slack.MsgOptionTS(root), slack.MsgOptionText("You come next.", false))
	b.check(err)
	p.Wait("Bob has news", `document.querySelector("[data-person=UBOB] .news").textContent.includes("1 private notice")`)
	if shown := pagetest.Value[int](p, `document.querySelectorAll(".notice").length`); shown != 0 {
		t.Errorf("Alice sees %d notices", shown)
	}
	p.As("Bob")
	p.Wait("Bob sees it", `document.querySelector("#replies [data-private=UBOB]").textContent.includes("You come next.")`)
	p.As("Carol")
	p.Wait("Carol does not", `!document.querySelector(".notice")`)
}

func TestADirectMessageNeedsNoMention(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Click(`[data-place="DALICE"]`)
	p.Begin("hello there")
	ts := b.heard("hello there")
	if m := b.slack.Messages(simulator.AliceDM, ts); len(m) != 1 || m[0].Text != "hello there" {
		t.Errorf("the DM holds %+v", m)
	}
	p.As("Bob")
	p.Wait("Bob is in his own DM", `document.querySelector("[aria-current=page]").dataset.place === "DBOB" && document.querySelectorAll("#roots .message").length === 0`)
}

func TestOwnMessagesAreEditedAndDeleted(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Begin("tipo & more")
	root := b.heard("tipo")
	p.Click(`#replies [data-focus="edit"]`)
	p.Wait("the text stands in the box", `document.activeElement.value === "@reeve tipo & more"`)
	p.Press(" typo")
	p.Enter()
	p.Wait("it is changed", `document.querySelector("#replies .edited") && document.querySelector("#replies .text").textContent === "@reeve tipo & more typo"`)
	if m := b.slack.Messages(simulator.General, root); m[0].Text != "<@UBOT> tipo &amp; more typo" {
		t.Errorf("it is %q", m[0].Text)
	}
	p.As("Bob")
	p.Wait("Bob may not", `!document.querySelector('#replies [data-focus="edit"], #replies [data-focus="delete"]')`)
	p.Reply("below")
	p.As("Alice")
	p.Click(`#replies [data-root] [data-focus="delete"]`)
	p.Wait("it is gone", `document.querySelector("#replies [data-root] .gone")`)
}

func TestChangesOfAMessageLeaveItsFate(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Begin("first")
	root := b.heard("first")
	b.decides(root, root, "UALICE", "start", attrs{"turn": "t_1"})
	b.runs("t_1", root, "UALICE", root)
	b.decides(root, root, "UALICE", "steer", attrs{"turn": "t_1", "change": "edit"})
	p.Wait("the edit is told", `document.querySelector("#replies [data-root] .why").textContent.endsWith("Its new text joined as a correction.")`)
	p.WaitFate("first", "start")
	p.As("Bob")
	p.Reply("second")
	second := b.heard("second")
	b.decides(root, second, "UBOB", "wait", attrs{"runs": "T1:UALICE"})
	b.decides(root, second, "UBOB", "replace_text", attrs{"change": "edit"})
	p.Wait("the new text is told", `document.querySelector("#replies [data-who=Bob] .why").textContent.endsWith("Its new text counts.")`)
	b.decides(root, second, "UBOB", "withdraw", attrs{"change": "edit"})
	p.WaitPhase("second", "withdrawn")
	p.Click(`#replies [data-root] [data-focus="sign"]`)
	p.Wait("the sign stands there", `document.querySelector('#replies [data-root] [data-reaction="octagonal_sign"]') && document.querySelector('#replies [data-root] [data-focus="sign"]').ariaPressed === "true"`)
	b.decides(root, "1.000001", "UBOB", "stop", attrs{"turn": "t_1", "runs": "T1:UALICE", "change": "stop_sign"})
	p.WaitStatus("Bob stops it")
}
