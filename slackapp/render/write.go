package render

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"reeve/runtime/chat"
)

// form is how a document is written.
type form int

const (
	// asSource is Markdown that means what was read, nothing disarmed: for
	// splitting.
	asSource form = iota
	asMarkdown
	asMrkdwn
	asPlain
)

// markdown reports whether the form is Markdown of either kind.
func (f form) markdown() bool { return f == asSource || f == asMarkdown }

// maxDepth bounds how deep lists and quotes are written; what is deeper is
// written flat.
const maxDepth = 30

type writer struct {
	src      []byte
	form     form
	name     func(chat.UserID) string
	mentions map[chat.UserID]bool
	held     []string
	depth    int
	// inLink and inCell say what stands around the text being written.
	inLink, inCell bool
}

func newWriter(source string, f form, o Options) *writer {
	w := &writer{src: []byte(source), form: f, name: o.Name, mentions: map[chat.UserID]bool{}}
	for _, u := range o.Mentions {
		w.mentions[u] = true
	}
	return w
}

func (w *writer) document() string { return w.blocks(parse(w.src), "\n\n") }

// blocks writes the children of a container, with a gap between them.
func (w *writer) blocks(parent ast.Node, gap string) string {
	var parts []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if s := w.block(n); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, gap)
}

func (w *writer) block(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Heading:
		return w.heading(n)
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = fenceInfo(string(n.Info.Segment.Value(w.src)))
		}
		return w.fence(lines(n, w.src), info)
	case *ast.CodeBlock:
		return w.fence(lines(n, w.src), "")
	case *ast.ThematicBreak:
		if w.form.markdown() {
			return "___"
		}
		return "──────"
	case *ast.Blockquote:
		inner := w.nested(n, "\n\n")
		if w.form == asPlain {
			return inner
		}
		return prefix(inner, "> ", "> ")
	case *ast.List:
		return w.list(n)
	case *east.Table:
		return w.table(n)
	}
	if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
		return w.nested(n, "\n\n")
	}
	return w.paragraph(n)
}

// nested writes what stands one level deeper.
func (w *writer) nested(n ast.Node, gap string) string {
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > maxDepth {
		return w.flat(n)
	}
	return w.blocks(n, gap)
}

// flat is the bare text below a node, without any structure.
func (w *writer) flat(n ast.Node) string {
	text := w.bare(n)
	if w.form.markdown() {
		return escapeLines(escapeText(text, w.form))
	}
	return escapeText(text, w.form)
}

func (w *writer) paragraph(n ast.Node) string {
	s := strings.Trim(w.inlines(n), " \t\n")
	if w.form.markdown() {
		return escapeLines(s)
	}
	return s
}

func (w *writer) heading(n *ast.Heading) string {
	s := strings.Join(strings.Fields(w.inlines(n)), " ")
	switch {
	case w.form.markdown():
		if strings.HasSuffix(s, "#") {
			s = s[:len(s)-1] + `\#`
		}
		return strings.TrimRight(strings.Repeat("#", n.Level)+" "+s, " ")
	case w.form == asMrkdwn && s != "" && !strings.ContainsAny(s, "*"):
		return "*" + s + "*"
	}
	return s
}

func (w *writer) list(n *ast.List) string {
	gap := "\n\n"
	if n.IsTight {
		gap = "\n"
	}
	var items []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		items = append(items, w.item(n, number, w.nested(item, gap)))
		number++
	}
	return strings.Join(items, gap)
}

// item puts a list's marker in front of what is written already.
func (w *writer) item(n *ast.List, number int, body string) string {
	marker := "• "
	switch {
	case n.IsOrdered() && w.form.markdown():
		marker = strconv.Itoa(number%1_000_000_000) + string(n.Marker) + " "
	case n.IsOrdered():
		marker = strconv.Itoa(number) + ". "
	case w.form.markdown():
		marker = string(n.Marker) + " "
	}
	if body == "" {
		return strings.TrimRight(marker, " ")
	}
	indent := strings.Repeat(" ", len(marker))
	if !w.form.markdown() {
		indent = "    "
	}
	return prefix(body, marker, indent)
}

// prefix puts first before the first line and rest before the others; lines
// without text get no trailing space.
func prefix(s, first, rest string) string {
	all := strings.Split(s, "\n")
	for i, line := range all {
		p := rest
		if i == 0 {
			p = first
		}
		if line == "" {
			p = strings.TrimRight(p, " ")
		}
		all[i] = p + line
	}
	return strings.Join(all, "\n")
}
