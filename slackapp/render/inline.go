package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// inlines writes the inline children of a node. Pieces of text that follow one
// another are escaped together, so that no markup is made by their meeting.
func (w *writer) inlines(parent ast.Node) string {
	var b, run strings.Builder
	flush := func(next rune) {
		last, _ := utf8.DecodeLastRuneInString(b.String())
		b.WriteString(escapeBetween(run.String(), w.form, around{last, next, w.inCell, w.inLink}))
		run.Reset()
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			run.WriteString(textOf(n, w.src))
			if n.HardLineBreak() {
				flush('\n')
				b.WriteString(w.breakLine())
			} else if n.SoftLineBreak() {
				run.WriteByte('\n')
			}
		case *ast.String:
			run.WriteString(clean(string(n.Value)))
		default:
			s := w.inline(n)
			if s == "" {
				continue
			}
			first, _ := utf8.DecodeRuneInString(s)
			flush(first)
			if w.form.markdown() && needsJoiner(b.String(), s) {
				b.WriteString(joiner)
			}
			b.WriteString(s)
		}
	}
	flush('\n')
	return b.String()
}

// needsJoiner: two runs of the same delimiter would meet and be read as one.
func needsJoiner(before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	last := before[len(before)-1]
	return last == after[0] && strings.IndexByte("*~`", last) >= 0
}

func textOf(n *ast.Text, src []byte) string {
	raw := n.Segment.Value(src)
	if n.IsRaw() {
		return string(raw)
	}
	return decode(raw)
}

func (w *writer) breakLine() string {
	switch {
	case w.inCell:
		return " "
	case w.form.markdown():
		return "  \n"
	}
	return "\n"
}

func (w *writer) inline(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CodeSpan:
		return w.code(w.bare(n))
	case *ast.Emphasis:
		delimiter := strings.Repeat("*", n.Level)
		if w.form == asMrkdwn {
			delimiter = [...]string{"_", "*"}[n.Level-1]
		}
		return w.delimited(n, delimiter)
	case *east.Strikethrough:
		if w.form == asMrkdwn {
			return w.delimited(n, "~")
		}
		return w.delimited(n, "~~")
	case *ast.Link:
		return w.link(n, decode(n.Destination), w.inlinesInLink(n), w.bare(n))
	case *ast.Image:
		alt := w.bare(n)
		if w.form == asSource {
			return "!" + w.link(n, decode(n.Destination), escapeText(alt, w.form), alt)
		}
		return w.link(n, decode(n.Destination), escapeText(alt, w.form), alt)
	case *ast.AutoLink:
		label, address := string(n.Label(w.src)), string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !scheme.MatchString(address) {
			address = "mailto:" + address
		}
		return w.link(n, address, escapeText(label, w.form), label)
	case *east.TaskCheckBox:
		if n.IsChecked {
			return "[x] "
		}
		return "[ ] "
	case *token:
		return w.token(n)
	}
	return w.inlines(n)
}

// delimited writes emphasis, and leaves it out where its delimiters would not
// be read as such.
func (w *writer) delimited(n ast.Node, delimiter string) string {
	inner := w.inlines(n)
	core := strings.Trim(inner, " \t\n")
	if core == "" || w.form == asPlain {
		return inner
	}
	first, _ := utf8.DecodeRuneInString(core)
	last, _ := utf8.DecodeLastRuneInString(core)
	most := 3
	if w.form == asMrkdwn {
		most = 1
	}
	n1, n2 := len(core)-len(strings.TrimLeft(core, delimiter[:1])), len(core)-len(strings.TrimRight(core, delimiter[:1]))
	if unicode.IsSpace(first) || unicode.IsSpace(last) || max(n1, n2)+len(delimiter) > most {
		return inner
	}
	i := strings.Index(inner, core)
	return inner[:i] + delimiter + core + delimiter + inner[i+len(core):]
}

// code writes a code span.
func (w *writer) code(content string) string {
	content = strings.Map(flatten, content)
	switch w.form {
	case asPlain:
		return escapeText(content, w.form)
	case asMrkdwn:
		if strings.ContainsRune(content, '`') || strings.TrimSpace(content) == "" {
			return escapeText(content, w.form)
		}
		return "`" + w.hold(disarmCode(escapeText(content, w.form))) + "`"
	}
	if strings.TrimSpace(content) == "" {
		return content
	}
	ticks := strings.Repeat("`", longestRun([]string{content}, '`')+1)
	pad := ""
	if content[0] == '`' || content[len(content)-1] == '`' || content[0] == ' ' && content[len(content)-1] == ' ' {
		pad = " "
	}
	if w.inCell {
		content = strings.ReplaceAll(content, "|", `\|`)
	}
	if w.form == asMarkdown {
		content = disarmCode(content)
	}
	return ticks + pad + w.hold(content) + pad + ticks
}

// bare is the text below a node without any markup, and not escaped.
func (w *writer) bare(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock && b.Len() > 0 {
				b.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(textOf(n, w.src))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(w.src))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.WriteString(strings.Join(lines(n, w.src), "\n"))
		case *token:
			b.WriteString(w.words(n))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimRight(b.String(), "\n")
}
