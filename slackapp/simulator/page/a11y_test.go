package page_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"reeve/slackapp/simulator"
	"reeve/slackapp/simulator/page/pagetest"
)

// scene is a page with something of each kind on it.
func scene(t *testing.T, p *pagetest.Page, b *bot) {
	t.Helper()
	p.Begin("draft an announcement")
	root := b.heard("draft an announcement")
	b.decides(root, root, "UALICE", "start", attrs{"turn": "t_000000alice1"})
	b.runs("t_000000alice1", root, "UALICE", root)
	b.reacts(root, "eyes")
	p.As("Bob")
	p.Reply("my turn?")
	waits := b.heard("my turn?")
	b.decides(root, waits, "UBOB", "wait", attrs{"runs": "T1:UALICE"})
	b.reacts(waits, "hourglass_flowing_sand")
	p.Force("by the way")
	forced := b.heard("by the way")
	b.decides(root, forced, "UBOB", "steer_context", attrs{"turn": "t_000000alice1", "forced": true})
	p.Reply("stop please")
	refused := b.heard("stop please")
	b.decides(root, refused, "UBOB", "refused", nil)
	p.Reply("hello")
	passive := b.heard("hello")
	b.decides(root, passive, "UBOB", "context", nil)
	b.answers(root, "# Head\n\nSome `code`, a [link](https://example.com/docs), <@UBOB>.\n\n> quoted\n\n```\nfence\n```")
	b.answers(root, "A card")
	_, _, err := b.api.PostMessageContext(b.within(), simulator.General, slack.MsgOptionTS(root), slack.MsgOptionText("card", false),
		slack.MsgOptionBlocks(slack.NewActionBlock("a", slack.NewButtonBlockElement("go", "v", slack.NewTextBlockObject("plain_text", "Go on", false, false)))))
	b.check(err)
	_, err = b.api.PostEphemeralContext(b.within(), simulator.General, "UBOB", slack.MsgOptionTS(root), slack.MsgOptionText("You come next.", false))
	b.check(err)
	p.WaitFate("hello", "context")
	p.WaitAnswer("Go on")
	p.Wait("the notice is there", `document.querySelector(".notice")`)
}

// Text and its ground differ enough, in light and in dark. Icons count as text.
const lowContrast = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return { r: m[0], g: m[1], b: m[2], a: m[3] ?? 1 }; };
	const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
	const ground = (el) => {
		const layers = [];
		for (let e = el; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
		return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
	};
	const light = ({ r, g, b }) => { const f = (v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
	const bad = new Set();
	let seen = 0;
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const el = n.parentElement;
		if (!n.data.trim() || !el.checkVisibility() || el.closest("noscript, .unseen, .skip")) continue;
		const c = contrast(over(parse(getComputedStyle(el).color), ground(el)), ground(el));
		seen++;
		if (c < 4.5) bad.add(c.toFixed(2) + " " + n.data.trim().slice(0, 30) + " ." + el.className);
	}
	for (const box of document.querySelectorAll("textarea")) {
		const c = contrast(parse(getComputedStyle(box, "::placeholder").color), ground(box));
		if (c < 4.5) bad.add(c.toFixed(2) + " placeholder");
	}
	return seen < 60 ? ["only " + seen + " texts were looked at"] : [...bad];
})()`

func TestTextStandsOutFromItsGround(t *testing.T) {
	for name, o := range map[string]pagetest.Options{"light": {}, "dark": {Dark: true}} {
		t.Run(name, func(t *testing.T) {
			p, b := open(t, o)
			scene(t, p, b)
			for _, bad := range pagetest.Value[[]string](p, lowContrast) {
				t.Errorf("contrast %s", bad)
			}
		})
	}
}

func TestEachControlHasAName(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	scene(t, p, b)
	counts := map[string]int{}
	for _, c := range p.Controls() {
		counts[c.Role]++
		if strings.TrimSpace(c.Name) == "" {
			t.Errorf("a %s has no name", c.Role)
		}
	}
	for role, least := range map[string]int{"button": 15, "textbox": 2, "radio": 3, "checkbox": 4, "main": 1, "navigation": 1, "heading": 4} {
		if counts[role] < least {
			t.Errorf("there are %d of role %s: %v", counts[role], role, counts)
		}
	}
	said := p.Text("#announce")
	if !strings.Contains(said, "You come next.") && !strings.Contains(said, "reeve") && !strings.Contains(said, "message") {
		t.Errorf("the last announcement is %q", said)
	}
}

// Nothing is cut off or to be scrolled sideways on a small screen.
func TestItFitsASmallScreen(t *testing.T) {
	p, b := open(t, pagetest.Options{Width: 360, Height: 740})
	p.Begin("a")
	root := b.heard("a")
	b.decides(root, root, "UALICE", "start", attrs{"turn": "t_000000alice1"})
	b.runs("t_000000alice1", root, "UALICE", root)
	b.answers(root, strings.Repeat("unbreakable", 40)+"\n\n```\n"+strings.Repeat("long line ", 60)+"\n```")
	p.WaitAnswer("unbreakable")
	const tooWide = `[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest("pre, .places, .unseen, .skip") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + "." + e.className)`
	if wide := pagetest.Value[[]string](p, tooWide); len(wide) > 0 {
		t.Errorf("too wide: %q", wide)
	}
	p.Click("#back")
	p.Wait("the list is back", `document.querySelector("#roots").checkVisibility() && !document.querySelector("#replies").checkVisibility()`)
	if wide := pagetest.Value[[]string](p, tooWide); len(wide) > 0 {
		t.Errorf("too wide: %q", wide)
	}
	p.Click("#guide summary")
	p.Click(`#steps [data-step="steer"] button`)
	p.Wait("the step stands in the thread's box", `document.activeElement === document.querySelector("#say-thread textarea") && document.activeElement.value !== ""`)
}
