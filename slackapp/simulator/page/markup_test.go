package page_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/slackapp/simulator/page"
	"reeve/slackapp/simulator/page/pagetest"
)

// shown is the markup of what the page makes of a text.
func shown(p *pagetest.Page, function, text string) string {
	raw, _ := json.Marshal(text)
	return pagetest.Value[string](p, fmt.Sprintf(`import("./markup.js").then((m) => {
		const box = document.createElement("div");
		box.append(...m.%s(%s, (id) => ({ UBOB: "Bob" })[id] ?? id));
		return box.innerHTML;
	})`, function, raw))
}

func TestMarkupIsWhatWasMeant(t *testing.T) {
	p, _ := open(t, pagetest.Options{})
	for _, c := range []struct{ function, text, want string }{
		{"markdown", "a **b** *c* _d_ __e__ ~~f~~ `g`", `<p>a <strong>b</strong> <em>c</em> <em>d</em> <strong>e</strong> <del>f</del> <code>g</code></p>`},
		{"markdown", "***both*** 2 * 3 * 4 snake_case_name \\*plain\\* `a\\*b`", `<p><strong><em>both</em></strong> 2 * 3 * 4 snake_case_name *plain* <code>a\*b</code></p>`},
		{"markdown", "# Head\ntext\n\n---\n> quote\n> more", `<p class="heading">Head</p><p>text</p><hr><blockquote><p>quote` + "\n" + `more</p></blockquote>`},
		{"markdown", "- one\n- two\n  - deep\n\n3. three\n4. four", `<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul><ol start="3"><li>three</li><li>four</li></ol>`},
		{"markdown", "```go\n<b> & *x*\n```", `<pre tabindex="0"><code>&lt;b&gt; &amp; *x*</code></pre>`},
		{"markdown", "| a | b |\n|---|---|\n| 1 | *2* |", `<div class="wide" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td><em>2</em></td></tr></tbody></table></div>`},
		{"markdown", "<@UBOB> &amp; &lt;b&gt; :tada:", `<p><span class="mention">@Bob</span> &amp; &lt;b&gt; 🎉</p>`},
		{"markdown", "[docs](https://example.com/a(b)) <https://example.com>", `<p><span class="link" title="https://example.com/a(b)">docs<span class="host"> (example.com)</span></span> <span class="link" title="https://example.com">https://example.com</span></p>`},
		{"markdown", "![x](https://example.com/i.png)", `<p><span class="link" title="https://example.com/i.png">x<span class="host"> (example.com)</span></span></p>`},
		{"mrkdwn", "*b* _i_ ~s~ `c &lt;` <@UBOB> <https://example.com|here>\n&gt; q", `<p><strong>b</strong> <em>i</em> <del>s</del> <code>c &lt;</code> <span class="mention">@Bob</span> <span class="link" title="https://example.com">here<span class="host"> (example.com)</span></span></p><blockquote>q</blockquote>`},
		{"mrkdwn", "a ```x *y*``` b", `<p>a </p><pre tabindex="0"><code>x *y*</code></pre><p> b</p>`},
	} {
		if got := shown(p, c.function, c.text); got != c.want {
			t.Errorf("%s %q is\n%s\nand not\n%s", c.function, c.text, got, c.want)
		}
	}
}

// No text becomes an element that was not meant, nor an address to follow.
func TestMarkupMakesNothingElse(t *testing.T) {
	p, _ := open(t, pagetest.Options{})
	for _, text := range []string{
		"<script>alert(1)</script>", `<img src=x onerror="alert(1)">`, "[x](javascript:alert(1))", "<javascript:alert(1)|x>",
		"![x](data:text/html,<script>1</script>)", "&lt;script&gt;", `<a href="https://example.com">x</a>`, "<https://example.com/\" onclick=\"x|y>",
		"```\n</code></pre><script>1</script>\n```", "| <b> | x |\n|---|---|\n| <i> | y |", "<!channel> <!here|x> <#C1|<b>>",
		strings.Repeat("> ", 500) + "deep", strings.Repeat("*a **b ", 300), strings.Repeat("[", 3000), strings.Repeat(`\`, 3000) + "**",
		"**" + strings.Repeat(`\a`, 3000), strings.Repeat("- ", 400) + "x", strings.Repeat("`", 3001), strings.Repeat("|", 3000) + "\n|-|",
	} {
		for _, function := range []string{"markdown", "mrkdwn"} {
			raw, _ := json.Marshal(text)
			found := pagetest.Value[[]string](p, fmt.Sprintf(`import("./markup.js").then((m) => {
				const box = document.createElement("div");
				box.append(...m.%s(%s, (id) => id));
				const known = ["P", "STRONG", "EM", "DEL", "CODE", "PRE", "HR", "BR", "BLOCKQUOTE", "UL", "OL", "LI", "SPAN", "DIV", "TABLE", "THEAD", "TBODY", "TR", "TH", "TD"];
				const attributes = ["class", "title", "tabindex", "start", "scope"];
				const all = [...box.querySelectorAll("*")];
				return all.filter((e) => !known.includes(e.tagName) || [...e.attributes].some((a) => !attributes.includes(a.name))).map((e) => e.outerHTML);
			})`, function, raw))
			if len(found) > 0 {
				t.Errorf("%s %.40q makes %q", function, text, found)
			}
		}
	}
}

// A message that people write is as harmless as an answer, and the page's
// policy would stop what slipped through.
func TestAMessageIsNeverMarkup(t *testing.T) {
	p, _ := open(t, pagetest.Options{})
	p.Begin(`<img src=x onerror="document.title='gone'">`)
	p.Wait("it stands there as text", `document.querySelector("#replies .text").textContent.includes("<img src=x onerror=")`)
	if n := pagetest.Value[int](p, `document.querySelectorAll("#replies img, #roots img").length`); n != 0 {
		t.Errorf("%d images were made", n)
	}
	refused := pagetest.Value[bool](p, `(() => { try { document.createElement("div").innerHTML = "<b>x</b>"; return false; } catch { return true; } })()`)
	if !refused {
		t.Error("the policy lets text be read as markup")
	}
}

func TestTheFilesAreServedUnderAPolicy(t *testing.T) {
	for path, want := range map[string]int{"/": 200, "/main.js": 200, "/page.css": 200, "/icon.svg": 200, "/page.go": 404, "/play/pace": 204} {
		w := httptest.NewRecorder()
		page.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s answers %d", path, w.Code)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if body, _ := io.ReadAll(w.Body); strings.Contains(string(body), "https://") {
			t.Errorf("%s names something outside", path)
		}
	}
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a post answers %d", w.Code)
	}
}
