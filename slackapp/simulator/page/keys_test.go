package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"reeve/slackapp/simulator"
	"reeve/slackapp/simulator/page/pagetest"
)

var alt = chromedp.KeyModifiers(chromedp.ModifierAlt)

const focused = `(() => { const e = document.activeElement; return e.tagName === "TEXTAREA" ? e.form.id + " TEXTAREA" : e.id || e.dataset.focus || e.value || e.className || e.tagName; })()`

// Everything can be done without a mouse.
func TestTheKeyboardSuffices(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Press("n", alt)
	p.Wait("the box of the channel has the focus", `document.activeElement === document.querySelector("#say-root textarea")`)
	p.Press("hello")
	p.Enter()
	root := b.heard("hello")
	p.Wait("the box of the thread has the focus", `document.activeElement === document.querySelector("#say-thread textarea")`)
	p.Press("2", alt)
	p.Wait("one is Bob", `document.title.startsWith("Bob")`)
	p.Press("first")
	p.Enter(chromedp.ModifierShift)
	p.Press("2nd")
	p.Enter()
	b.heard("2nd")
	if m := b.slack.Messages(simulator.General, root); len(m) != 2 || m[1].User != "UBOB" || m[1].Text != "<@UBOT> first\n2nd" {
		t.Errorf("the thread holds %+v", m)
	}
	p.Press(kb.Tab) // the button that sends
	p.Press(kb.Tab) // @reeve
	p.Press(" ")
	p.Press(kb.Tab) // !!
	p.Press(" ")
	p.Press("t", alt)
	p.Press("told you")
	p.Enter()
	b.heard("told you")
	if m := b.slack.Messages(simulator.General, root); m[2].Text != "!! told you" {
		t.Errorf("it is %q", m[2].Text)
	}
	p.Press(kb.Escape)
	p.Wait("the thread is closed, and its button has the focus", `document.activeElement === document.querySelector("#roots .open")`)
	p.Press("3")
	p.Wait("one is Carol", `document.title.startsWith("Carol")`)
	p.Enter()
	p.Wait("the thread is open again", `document.querySelector("#replies [data-root]")`)
}

// The focus goes through the page as a reader does: who, where, the guide, the
// list, the thread.
func TestTheFocusGoesInOrder(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Begin("hello")
	root := b.heard("hello")
	b.decides(root, root, "UALICE", "start", attrs{"turn": "t_1"})
	p.WaitFate("hello", "start")
	p.Run(`document.activeElement.blur()`)
	p.Run(`getSelection().removeAllRanges(), document.body.tabIndex = -1, document.body.focus()`)
	var order []string
	for range 40 {
		p.Press(kb.Tab)
		at := pagetest.Value[string](p, focused)
		if at == "BODY" || len(order) > 0 && at == order[0] {
			break
		}
		order = append(order, at)
	}
	at := -1
	for _, want := range []string{"skip", "UALICE", "CGENERAL", "DALICE", "start", "stop", "roots-scroll", "open", "say-root TEXTAREA", "stop", "replies-scroll", "sign", "edit", "say-thread TEXTAREA"} {
		found := -1
		for i := at + 1; i < len(order); i++ {
			if order[i] == want {
				found = i
				break
			}
		}
		if found < 0 {
			t.Fatalf("%s does not come where it should in %s", want, strings.Join(order, ", "))
		}
		at = found
	}
}
