package pagetest

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// quoted is text as an expression.
func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// Ready waits until the page shows the simulator's state and listens to it.
func (p *Page) Ready() {
	p.t.Helper()
	p.Wait("the page is ready", `document.documentElement.dataset.ready === "yes" && document.getElementById("live").dataset.live === "yes"`)
}

// As makes the person before the screen another, by a click.
func (p *Page) As(name string) {
	p.t.Helper()
	p.Run(fmt.Sprintf(`[...document.querySelectorAll("#people label")].find((l) => l.querySelector(".name").textContent === %s).click()`, quoted(name)))
	p.Wait("one is "+name, fmt.Sprintf(`document.title.startsWith(%s)`, quoted(name)))
}

// Begin writes a message that begins a thread, and waits until that is open.
func (p *Page) Begin(text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS("#say-root textarea"), text+kb.Enter))
	p.Wait("the thread of "+text+" is open", fmt.Sprintf(`document.querySelector("#replies [data-root]").textContent.includes(%s)`, quoted(text)))
}

// Reply writes into the open thread, and waits until it stands there.
func (p *Page) Reply(text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS("#say-thread textarea"), text+kb.Enter))
	p.Wait(text+" stands in the thread", saying(text))
}

// Force writes into the open thread with the "!!" switch on.
func (p *Page) Force(text string) {
	p.t.Helper()
	p.Click(`#say-thread .switch:nth-of-type(2) input`)
	p.Reply(text)
}

// message finds the newest message of the open thread that holds a text.
func message(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#replies .message:not(.notice)")].findLast((m) => m.querySelector(".text")?.textContent.includes(%s) && m.dataset.who !== "reeve")`, quoted(text))
}

func saying(text string) string { return message(text) + ` !== undefined` }

// WaitFate waits until the message with a text, of the open thread, has a fate.
func (p *Page) WaitFate(text, word string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("%q has the fate %s", text, word), fmt.Sprintf(`%s.querySelector(".fate").dataset.fate === %s`, message(text), quoted(word)))
}

// WaitPhase waits until the message with a text stands where phase says.
func (p *Page) WaitPhase(text, phase string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("%q is %s", text, phase), fmt.Sprintf(`%s.dataset.phase === %s`, message(text), quoted(phase)))
}

// WaitStatus waits until the state of the open thread holds a text.
func (p *Page) WaitStatus(text string) {
	p.t.Helper()
	p.Wait("the thread's state says "+text, fmt.Sprintf(`document.getElementById("status").textContent.includes(%s)`, quoted(text)))
}

// WaitAnswer waits for a post of the bot in the open thread that holds a text,
// and returns all of its text.
func (p *Page) WaitAnswer(text string) string {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("#replies .message:not(.notice)")].find((m) => m.dataset.who === "reeve" && m.querySelector(".text").textContent.includes(%s))`, quoted(text))
	p.Wait("the bot has said "+text, find+` !== undefined`)
	return Value[string](p, find+`.querySelector(".text").textContent`)
}

// Click clicks the first element of a selector, where it stands.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// Press sends keys to whatever has the focus.
func (p *Page) Press(keys string, modifiers ...chromedp.KeyOption) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys, modifiers...))
}

// Text is what stands in the first element of a selector.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Value[string](p, fmt.Sprintf(`document.querySelector(%s)?.textContent ?? "(nothing is there)"`, quoted(selector)))
}

// Screenshot writes what the window shows as a PNG.
func (p *Page) Screenshot(file string) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatalf("take a screenshot: %v", err)
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
