package gaps

import (
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

// What was edited while nobody could acknowledge is found by reading back: of a
// waiting message the new text counts, and what is worked on is corrected, once,
// however often it is read.
func TestP11_EditedWhileTheSocketsAreAway(t *testing.T) {
	p := newPlace(t)
	held, release := scripted.Answer("painted").Held()
	t.Cleanup(release)
	p.Model.Then(held)
	r := p.StartOther(t, quickly)
	p.signed(1)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> q1")
	p.Asked(t, 1)
	waiting := p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> q2", simulator.SayOptions{Thread: root})
	p.log(r, 1, `"disposition":"wait"`)

	for n := range 2 {
		p.cut()
		p.pause(gapAfter * 4 / 3)
		if n == 0 {
			p.Slack.Edit(simulator.Alice, simulator.General, root, "<@UBOT> q3")
			p.Slack.Edit(simulator.Bob, simulator.General, waiting, "<@UBOT> q4")
		}
		p.join(2)
		p.log(r, n+1, `"gap read back"`, `"closed":true`)
	}
	p.log(r, 1, `"change":"edit"`, `"disposition":"replace_text"`)
	release()
	p.answered(simulator.General, root, "painted", "UALICE asked q1 and q3", "UBOB asked q4")
}
