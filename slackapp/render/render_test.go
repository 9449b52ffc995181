package render

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"reeve/runtime/chat"
)

var options = Options{
	Mentions: []chat.UserID{"U0ALICE"},
	Name: func(u chat.UserID) string {
		return map[chat.UserID]string{"U0BOB": "Bob", "U0CHAN": "channel", "U0LT": "<!here> **x**"}[u]
	},
}

func TestRender(t *testing.T) {
	const j = joiner
	tests := []struct {
		name, in                string
		markdown, mrkdwn, plain string
	}{
		{
			"plain words stay as they are",
			"Hello! 2 * 3 = 6, a_b_c, x[0], 5 < 6 & done.",
			"Hello! 2 * 3 = 6, a_b_c, x[0], 5 < 6 & done.",
			"Hello! 2 * 3 = 6, a_b_c, x[0], 5 &lt; 6 &amp; done.",
			"Hello! 2 * 3 = 6, a_b_c, x[0], 5 &lt; 6 &amp; done.",
		},
		{
			"emphasis",
			"**bold** *it* ~~gone~~ `code`",
			"**bold** *it* ~~gone~~ `code`",
			"*bold* _it_ ~gone~ `code`",
			"bold it gone code",
		},
		{
			"broadcasts",
			"<!channel> <!here|here> @everyone &lt;!channel&gt; `<!here>`",
			"@" + j + "channel @" + j + "here @" + j + "everyone \\<" + j + "!channel> `<" + j + "!here>`",
			"@" + j + "channel @" + j + "here @" + j + "everyone &lt;" + j + "!channel&gt; `&lt;" + j + "!here&gt;`",
			"@" + j + "channel @" + j + "here @" + j + "everyone &lt;" + j + "!channel&gt; &lt;" + j + "!here&gt;",
		},
		{
			"mentions",
			"<@U0ALICE> <@U0BOB> <@U0CHAN> <@U0EVE|Alice>",
			"<@U0ALICE> @Bob @" + j + "channel @" + j + "U0EVE",
			"<@U0ALICE> @Bob @" + j + "channel @" + j + "U0EVE",
			"<@U0ALICE> @Bob @" + j + "channel @" + j + "U0EVE",
		},
		{
			"a name is text",
			"<@U0LT>",
			"@\\<" + j + "!here> \\*\\*x\\*\\*",
			"@&lt;" + j + "!here&gt; **x**",
			"@&lt;" + j + "!here&gt; **x**",
		},
		{
			"groups, channels, dates",
			"<!subteam^S012|@team> <#C012|general> <!date^1^{date}|today>",
			"@team #general today", "@team #general today", "@team #general today",
		},
		{
			"links",
			"[docs](https://example.com/a_b) and <https://example.com> [bad](javascript:alert(1))",
			"[docs](https://example.com/a_b) and [https://example.com](https://example.com) bad (javascript:" + j + "alert(1))",
			"<https://example.com/a_b|docs> and <https://example.com|https://example.com> bad (javascript:" + j + "alert(1))",
			"docs (https://example.com/a_b) and https://example.com bad (javascript:" + j + "alert(1))",
		},
		{
			"a link's text names another host",
			"[www.bank.com](https://evil.example/x) <https://evil.example|https://bank.com> [main](https://bank.com@evil.example/)",
			"[www.bank.com (evil.example)](https://evil.example/x) [https://bank.com (evil.example)](https://evil.example) [main](https://evil.example/)",
			"<https://evil.example/x|www.bank.com (evil.example)> <https://evil.example|https://bank.com (evil.example)> <https://evil.example/|main>",
			"www.bank.com (evil.example) (https://evil.example/x) https://bank.com (evil.example) (https://evil.example) main (https://evil.example/)",
		},
		{
			"an image is a link",
			"![cat](https://example.com/cat.png)",
			"[cat](https://example.com/cat.png)",
			"<https://example.com/cat.png|cat>",
			"cat (https://example.com/cat.png)",
		},
		{
			"code is kept",
			"```html\n<!doctype html>\n<!channel> a<b\n```",
			"```html\n<!doctype html>\n<" + j + "!channel> a<b\n```",
			"```\n&lt;!doctype html&gt;\n&lt;" + j + "!channel&gt; a&lt;b\n```",
			"&lt;" + j + "!doctype html&gt;\n&lt;" + j + "!channel&gt; a&lt;b",
		},
		{
			"blocks",
			"# Head #1\n\n> quote\n\n1. one\n   - two\n2. [x] three\n\n---\n\nend",
			"# Head #1\n\n> quote\n\n1. one\n   - two\n2. [x] three\n\n___\n\nend",
			"*Head #1*\n\n> quote\n\n1. one\n    • two\n2. [x] three\n\n──────\n\nend",
			"Head #1\n\nquote\n\n1. one\n    • two\n2. [x] three\n\n──────\n\nend",
		},
		{
			"a table",
			"| a | b |\n|:--|--:|\n| <!here> | `x\\|y` |\n| [l](https://e.com) | long cell |",
			"| a | b |\n| :-- | --: |\n| @" + j + "here | `x\\|y` |\n| [l](https://e.com) | long cell |",
			"```\na                 | b\n@" + j + "here             | x|y\nl (https://e.com) | long cell\n```",
			"a | b\n@" + j + "here | x|y\nl (https://e.com) | long cell",
		},
		{
			"what is no markup is written as none",
			`\*a\* \[x](y) 1\. # &amp;lt; \<@U0ALICE>`,
			`\*a\* \[x](y) 1. # \&lt; ` + `\<@` + j + `U0ALICE>`,
			`*a* [x](y) 1. # &amp;lt; &lt;@` + j + `U0ALICE&gt;`,
			`*a* [x](y) 1. # &amp;lt; &lt;@` + j + `U0ALICE&gt;`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for rung, want := range []string{tt.markdown, tt.mrkdwn, tt.plain} {
				post := Render(tt.in, Rung(rung), options)
				got := post.Text
				if rung == int(Markdown) {
					got = post.Markdown
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("rung %d (-want +got):\n%s", rung, diff)
				}
			}
		})
	}
}

// TestRenderLongEscapes: what escapes would make too long for Slack's text,
// which it would cut off, is shown with other characters instead.
func TestRenderLongEscapes(t *testing.T) {
	in := strings.Repeat("&", maxMarkdown)
	for rung := range Rungs {
		post := Render(in, Rung(rung), Options{})
		if n := len([]rune(post.Text)); n == 0 || n > 40_000 {
			t.Errorf("rung %d: text of %d characters", rung, n)
		}
		if post.Markdown == "" && strings.Count(post.Text, "＆") != maxMarkdown {
			t.Errorf("rung %d: not every character is there", rung)
		}
	}
}

var seeds = []string{
	"<!channel>", "<!here|x>", "&lt;!channel&gt;", "&#60;!here>", "&amp;lt;!here&amp;gt;", "@channel @here @everyone",
	"`<!channel>`", "```\n<!everyone>\n@here\n<@U0BOB>\n```", "    <!channel>\n", "<@U0BOB> <@U0ALICE> <@U0BOB|x>",
	"[<!channel>](https://x.y)", "[a](<javascript:alert(1)>)", "[a](JaVaScRiPt:x)", "<javascript:alert(1)>", "<data:text/html,x|y>",
	"![x](http://a.b/c.png)", "[google.com](https://evil.com)", "[x][r]\n\n[r]: slack://open", "# <!here>\n\n| <!here> | b |\n|--|--|\n| <@U0BOB> | [x](file:///etc) |",
	"**<!chan**nel>", "@**here**", "@`here`", "<**!channel**>", "<![](x)channel>", "\\<!channel>", "&lt;@U0BOB&gt;", "https://bank.com@evil.com/",
	"<https://evil.com|https://bank.com>", "<https://a.b|@here>", "ftp://x.y javascript:alert(1)", "> - 1. <!subteam^S1|x>", "~~<!here>~~",
	"<!here\n>", "<!--\n<!channel>\n-->", "<div>\n<!channel>\n</div>", "<br><!here>", "&#x3c;!channel&#62;", "```<!channel>\nx\n```", "~~~a`b\n<!here>\n~~~",
	"[a|b](https://x.y|z)", "[x](https://x.y/<!channel>)", "[x](https://x.y/?a=&lt;!channel&gt;)", "https://x.y/@channel", "mailto:foo@here.com <foo@here.com>",
	"[x](<https://a b>)", "[![i](https://a.b/i.png)](https://c.d)", "a\\", "*a**b*", "***a***", "*a*_b_**c**", "`` ` `` ``` `x` ```", "- - - <!here>",
	"[bank.com\u202e](https://e.com)", "[ba\u200bnk.com](https://e.com)", "[bank。com](https://e.com)", "\U000F0000\U000F0001", "&#xF0000;", "<@U0ALICE&gt;",
	"<<@U0ALICE>", "<<!here>>", "<#C012|<!here>>", "|a|\n|-|\n|`<!here>`|", "1) x\n2) <!here>", "a  \n<!here>", "[x](https://a.b 'title <!here>')",
}

func FuzzRender(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	for i := range seeds {
		f.Add(seeds[i] + seeds[(i*7+3)%len(seeds)])
		f.Add("> " + seeds[i] + "\n\n- " + seeds[(i*5+1)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, in string) {
		for rung := range Rungs {
			checkPost(t, in, Render(in, Rung(rung), options))
		}
		for _, piece := range Split(in) {
			checkPost(t, in, Render(piece, Markdown, options))
		}
	})
}

// What follows reads a post as Slack would, and knows nothing of how it was
// written.

var (
	angle       = regexp.MustCompile(`<[^<>]*>?`)
	pings       = regexp.MustCompile(`(?i)@(channel|here|everyone)\b`)
	slackTokens = regexp.MustCompile(`(?i)<(!(channel|here|everyone|group|subteam|date)\b|@[UW][A-Z0-9]|#C[A-Z0-9]|[a-z][a-z0-9+.-]*:[^\s<>|:][^\s<>|]*\|)`)
	mayPing     = regexp.MustCompile(`<@U0ALICE>`)
	linkToken   = regexp.MustCompile(`^<((?:https?://|mailto:)[^\s<>|]+)\|([^<>|]*)>$`)
	backslash   = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	badScheme   = regexp.MustCompile(`(?i)\b(javascript|vbscript|data|file|slack):[^\s\x{2060}]`)
)

func checkPost(t *testing.T, in string, p Post) {
	t.Helper()
	for _, s := range []string{p.Markdown, p.Text} {
		bare := mayPing.ReplaceAllString(s, "")
		for _, reading := range readings(bare) {
			if m := pings.FindString(reading); m != "" {
				t.Fatalf("%q pings %q in %q", in, m, s)
			}
		}
	}
	checkText(t, in, p)
	if p.Markdown != "" {
		checkMarkdown(t, in, p.Markdown)
	}
}

// readings are the ways in which a careless reader may unescape a text.
func readings(s string) []string {
	once := html.UnescapeString(s)
	return []string{
		s, once, html.UnescapeString(once),
		backslash.ReplaceAllString(s, "$1"), backslash.ReplaceAllString(once, "$1"), html.UnescapeString(backslash.ReplaceAllString(s, "$1")),
	}
}

func checkText(t *testing.T, in string, p Post) {
	t.Helper()
	for _, m := range angle.FindAllString(p.Text, -1) {
		if mayPing.MatchString(m) && m == "<@U0ALICE>" {
			continue
		}
		link := linkToken.FindStringSubmatch(m)
		if link == nil || !p.Mrkdwn {
			t.Fatalf("%q has the token %q in text %q", in, m, p.Text)
		}
		checkLink(t, in, html.UnescapeString(link[1]), html.UnescapeString(link[2]))
	}
	plain := mayPing.ReplaceAllString(angle.ReplaceAllString(p.Text, ""), "")
	for _, reading := range readings(plain) {
		if m := slackTokens.FindString(reading); m != "" {
			t.Fatalf("%q reads %q in text %q", in, m, p.Text)
		}
	}
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

func checkMarkdown(t *testing.T, in, md string) {
	t.Helper()
	for _, reading := range readings(mayPing.ReplaceAllString(md, "")) {
		if m := slackTokens.FindString(reading); m != "" {
			t.Fatalf("%q reads %q in markdown %q", in, m, md)
		}
	}
	src := []byte(md)
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image, *ast.RawHTML, *ast.HTMLBlock:
			t.Fatalf("%q has a %s in %q", in, n.Kind(), md)
		case *ast.Link:
			checkLink(t, in, string(n.Destination), textBelow(n, src))
		case *ast.AutoLink:
			address := string(n.URL(src))
			if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(address, "mailto:") {
				address = "mailto:" + address
			}
			if !regexp.MustCompile(`^(?i)(https?://|mailto:|www\.)`).MatchString(address) {
				t.Fatalf("%q has the address %q in %q", in, address, md)
			}
		case *ast.Text:
			if _, code := n.Parent().(*ast.CodeSpan); !code {
				if m := badScheme.Find(n.Segment.Value(src)); m != nil {
					t.Fatalf("%q has the scheme %q in %q", in, m, md)
				}
			}
		}
		return ast.WalkContinue, nil
	})
}

func textBelow(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if s, ok := n.(*ast.Text); ok && entering {
			b.Write(s.Segment.Value(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

var sameHost = regexp.MustCompile(`^(?:https?://|mailto:)([^/?#|]+)`)

func checkLink(t *testing.T, in, address, label string) {
	t.Helper()
	m := sameHost.FindStringSubmatch(address)
	if m == nil {
		t.Fatalf("%q links to %q", in, address)
	}
	lower := strings.ToLower(label)
	for _, host := range []string{"bank.com", "google.com"} {
		if strings.Contains(lower, host) && !strings.Contains(lower, strings.ToLower(m[1])) {
			t.Fatalf("%q shows %q and leads to %q", in, label, address)
		}
	}
}
