package pagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"slices"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
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
	p.do(chromedp.SendKeys(chromedp.CSS("#say-root textarea"), text))
	p.Enter()
	p.Wait("the thread of "+text+" is open", fmt.Sprintf(`document.querySelector("#replies [data-root]").textContent.includes(%s)`, quoted(text)))
}

// Reply writes into the open thread, and waits until it stands there.
func (p *Page) Reply(text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS("#say-thread textarea"), text))
	p.Enter()
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

// Enter presses the Enter key, as a keyboard does: what takes its press keeps
// it from beginning a line.
func (p *Page) Enter(modifiers ...chromedp.Modifier) {
	p.t.Helper()
	press := input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", Text: "\r", UnmodifiedText: "\r",
		WindowsVirtualKeyCode: 13, NativeVirtualKeyCode: 13,
	}
	for _, m := range modifiers {
		press.Modifiers |= int64(m)
	}
	release := press
	release.Type, release.Text, release.UnmodifiedText = input.DispatchKeyEventTypeKeyUp, "", ""
	p.do(command(input.DispatchKeyEvent, press), command(input.DispatchKeyEvent, release))
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
	// The browser packs it fast, not small.
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		p.t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, decoded); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, small.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Control is something that the browser tells a screen reader of.
type Control struct{ Role, Name string }

// roles are those of which Controls tells.
var roles = []string{"button", "textbox", "radio", "checkbox", "link", "main", "navigation", "heading", "region", "form", "DisclosureTriangle"}

// Controls are the page's controls and landmarks, with their names as the
// browser finds them.
func (p *Page) Controls() []Control {
	p.t.Helper()
	tree, err := chromedp.Run(p.ctx, func(ctx context.Context, target *chromedp.Target) (accessibility.GetFullAXTreeResult, error) {
		return cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	})
	if err != nil {
		p.t.Fatalf("read the accessibility tree: %v", err)
	}
	var controls []Control
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		c := Control{Role: text(node.Role)}
		if node.Name != nil {
			c.Name = text(node.Name)
		}
		if slices.Contains(roles, c.Role) {
			controls = append(controls, c)
		}
	}
	return controls
}

func text(v *accessibility.Value) string {
	var s string
	_ = json.Unmarshal(v.Value, &s)
	return s
}
