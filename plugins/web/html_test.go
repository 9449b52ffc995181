package web_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadableText(t *testing.T) {
	tests := []struct{ name, page, want string }{
		{"headings, paragraphs, breaks", "<h1>One</h1><p>two<br>three</p><p>four <b>five</b>, six</p><h3> Sev<i>en</i></h3>eight",
			"# One\n\ntwo\nthree\n\nfour five, six\n\n### Seven\n\neight"},
		{"lists", "<p>To do:<ul><li>a<li><p>b</p><ol><li>c<li>d</ol><li></ul>end",
			"To do:\n\n- a\n- b\n  1. c\n  2. d\n\nend"},
		{"links", `<a href="/x">here</a>, <a href="#part">part</a>, <a href="javascript:evil()">js</a>, <a href="data:text/html,x">data</a>,
			<a href="https://other.example/y?z=1">there</a>, <a href="mailto:a@b.c">mail</a>, <a href=https://e.example/>https://e.example/</a>`,
			"here (http://example.com:PORT/x), part, js, data, there (https://other.example/y?z=1), mail (mailto:a@b.c), https://e.example/"},
		{"base", `<base href="https://base.example/d/"><a href="x">here</a>`, "here (https://base.example/d/x)"},
		{"a base that is none", `<base href="javascript:x"><a href="/x">here</a>`, "here (http://example.com:PORT/x)"},
		{"tables", "<table><tr><th>a<th>b<tr><td>1<td><p>2</p><tr><td>3<td></table>after", "a | b\n1 | 2\n3 |\n\nafter"},
		{"code", "<p>call <code>f( x )</code> so:<pre>\n  if x {\n\n    y\n  }\n</pre>done", "call `f( x )` so:\n\n```\n  if x {\n\n    y\n  }\n```\n\ndone"},
		{"quotes", "he said<blockquote><p>one</p><p>two</p></blockquote>yes", "he said\n\n> one\n\n> two\n\nyes"},
		{"images", `<img src=x><img src=y alt=""><img src=z alt="a cat">`, "[image: a cat]"},
		{"entities", "a &lt;b&gt; &amp;amp; &copy; &#8364; x&nbsp;y", "a <b> &amp; © € x y"},
		{"the main part", "<nav>menu</nav><header>site</header><main><h1>T</h1>text<nav>inner</nav></main><footer>foot</footer>", "# T\n\ntext"},
		{"the only article", "<div>around</div><article>text</article><aside>ads</aside>", "text"},
		{"several articles", "<nav>menu</nav><article>one</article><article>two</article>", "one\n\ntwo"},
		{"a hidden main is none", "<main hidden>trap</main><p>text", "text"},
		{"nothing", "<script>draw()</script>", "(There is no text on the page. It may need scripts, which are not run.)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, serve("text/html; charset=utf-8", test.page))
			if diff := cmp.Diff(strings.ReplaceAll(test.want, "PORT", p.port), p.text(t)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTitleStandsInFront(t *testing.T) {
	for _, deep := range []string{"", strings.Repeat("<div>", 600)} {
		p := newPlace(t, serve("text/html", "<head><title> A\n <b>title </title></head><body><svg><title>icon</title></svg>"+deep+"text"))
		result := p.fetch(t, p.url("example.com", "/"))
		want := p.url("example.com", "/") + "\nTitle: A <b>title\n\n"
		if result.Error || !strings.HasPrefix(result.Text, want) || !strings.HasSuffix(result.Text, "text") {
			t.Errorf("%q", result.Text)
		}
	}
}
