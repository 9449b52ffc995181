package render

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// lines are a code block's lines.
func lines(n ast.Node, src []byte) []string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(src))
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// fence writes a block of code.
func (w *writer) fence(code []string, info string) string {
	out := make([]string, 0, len(code)+2)
	switch w.form {
	case asPlain:
		return escapeText(strings.Join(code, "\n"), w.form)
	case asMrkdwn:
		out = append(out, "```")
		for _, line := range code {
			line = escapeText(strings.ReplaceAll(line, "```", "`"+joiner+"``"), w.form)
			out = append(out, w.hold(disarmCode(line)))
		}
		return strings.Join(append(out, "```"), "\n")
	}
	ticks := strings.Repeat("`", max(3, longestRun(code, '`')+1))
	out = append(out, ticks+info)
	for _, line := range code {
		if w.form == asMarkdown {
			line = w.hold(disarmCode(line))
		}
		out = append(out, line)
	}
	return strings.Join(append(out, ticks), "\n")
}

func longestRun(code []string, c byte) int {
	longest := 0
	for _, line := range code {
		run := 0
		for i := range len(line) {
			if line[i] != c {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	return longest
}

// fenceInfo keeps of an info string what names a language and cannot be
// anything else.
func fenceInfo(info string) string {
	info = strings.TrimSpace(info)
	for i, r := range info {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+#._- ={},:", r)
		if !ok || i >= 60 {
			return strings.TrimSpace(info[:i])
		}
	}
	return info
}
