// Package pagetest plays the playground's page in a headless Chromium, as a
// person with a mouse or a keyboard would.
package pagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Bounds of one wait, and of all that is done with one page.
const (
	patience = 30 * time.Second
	bound    = 2 * time.Minute
)

const install = "chromium is needed and was not found.\n" +
	"Install it: apt-get install chromium (Debian, Ubuntu), brew install --cask chromium (macOS), or Google Chrome"

// chromium finds the browser, by the names that it has here and there.
func chromium() (string, bool) {
	for _, name := range []string{
		"headless_shell", "headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// Main runs a package's tests, which share one browser, and ends the browser.
func Main(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

var shared struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// browser is the one that the package's tests share; Main ends it.
func browser() (context.Context, error) {
	shared.once.Do(func() {
		path, found := chromium()
		if !found {
			shared.err = errors.New(install)
			return
		}
		flags := []chromedp.ExecAllocatorOption{
			chromedp.ExecPath(path), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless,
			chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(bound), chromedp.Flag("force-color-profile", "srgb"),
			// A machine without a mouse is one with a mouse for the page.
			chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"),
		}
		for _, name := range []string{
			"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-extensions",
			"disable-default-apps", "disable-dev-shm-usage", "disable-background-timer-throttling", "disable-backgrounding-occluded-windows",
			"disable-renderer-backgrounding", "hide-scrollbars", "mute-audio",
		} {
			flags = append(flags, chromedp.Flag(name, true))
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), flags...)
		ctx, closeFirst := chromedp.NewContext(allocator)
		shared.ctx, shared.err = ctx, chromedp.Do(ctx)
		shared.stop = func() {
			_ = chromedp.Cancel(ctx)
			closeFirst()
			stop()
		}
	})
	return shared.ctx, shared.err
}

// Options are how the browser looks at the page.
type Options struct {
	Width, Height int64 // of the window; 1360 by 860
	Dark          bool  // the person prefers dark colours
	// Scale is how many dots of the screen a pixel has each way; 1.
	Scale float64
}

// Page is one page in a tab of its own.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// Open opens the address in a tab, which is closed with the test. A browser
// that is missing fails the test.
func Open(t testing.TB, url string, o Options) *Page {
	t.Helper()
	parent, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	if o.Width == 0 {
		o.Width, o.Height = 1360, 860
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	p := &Page{t: t}
	tab, closeTab := chromedp.NewContext(parent, chromedp.WithListener(p.hear))
	t.Cleanup(closeTab)
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	bounded, cancel := context.WithTimeout(tab, bound)
	t.Cleanup(cancel)
	p.ctx = bounded
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	p.do(
		command(emulation.SetEmulatedMedia, media),
		command(cdplog.Enable, cdp.Empty{}),
		chromedp.EmulateViewport(o.Width, o.Height, chromedp.EmulateScale(o.Scale)),
		chromedp.Navigate(url),
	)
	return p
}

// command is one of the browser's own, whose answer is of no interest.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

// hear keeps what the browser complains of: exceptions, errors on the console,
// and what the page's policy forbade.
func (p *Page) hear(event any) {
	var problem string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			problem += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			problem = "the console has a line of type " + string(e.Type)
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			problem = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, problem)
		p.mu.Unlock()
	}
}

// Problems are what the browser complained of so far.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

func (p *Page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	err := chromedp.Do(p.ctx, actions...)
	// A page that shows what happens may redraw a node between the look for it
	// and the deed; nothing was done then.
	for range 5 {
		if err == nil || !strings.Contains(err.Error(), "node with given id") {
			break
		}
		err = chromedp.Do(p.ctx, actions...)
	}
	if err != nil {
		p.t.Fatalf("play the page: %v\n%s", err, strings.Join(p.Problems(), "\n"))
	}
}

// Run evaluates JavaScript in the page and waits for a promise.
func (p *Page) Run(script string) {
	p.t.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise))
}

// Value is what an expression of JavaScript is worth in the page, decoded from
// JSON. A promise is waited for.
func Value[T any](p *Page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate in the page: %v\n%s", err, strings.Join(p.Problems(), "\n"))
	}
	return value
}

// Wait waits until the condition, an expression, is true, looking at it
// whenever the document has changed. what names it where it never is.
func (p *Page) Wait(what, condition string) {
	p.t.Helper()
	came := Value[bool](p, fmt.Sprintf(`new Promise((resolve) => {
		const holds = () => { try { return !!(%s); } catch { return false; } };
		if (holds()) return resolve(true);
		const end = (came) => { watch.disconnect(); resolve(came); };
		const watch = new MutationObserver(() => { if (holds()) end(true); });
		watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		setTimeout(() => end(false), %d);
	})`, condition, patience.Milliseconds()))
	if !came {
		p.t.Fatalf("it never came that %s\n%s\nthe page says:\n%s", what, strings.Join(p.Problems(), "\n"), Value[string](p, `document.body.innerText`))
	}
}
