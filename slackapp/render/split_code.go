package render

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

func (s *splitter) code(n ast.Node, whole string) {
	code := lines(n, s.w.src)
	ticks := max(3, longestRun(code, '`')+1)
	info, _, _ := strings.Cut(strings.TrimLeft(whole, "`"), "\n")
	fence := size{2*ticks + len(info) + 2, 2*ticks + len(info) + 4 + blockLength("")}
	var part []string
	var spent size
	done := func() {
		if len(part) > 0 {
			s.add(s.w.fence(part, info), "\n\n")
		}
		part, spent = nil, fence
	}
	done()
	for _, line := range code {
		for !fence.plus(lineSize(line)).within(s.limit) {
			i := cutLine(line, fence, s.limit)
			done()
			part = []string{line[:i]}
			done()
			line = line[i:]
		}
		if !spent.plus(lineSize(line)).within(s.limit) {
			done()
		}
		part = append(part, line)
		spent = spent.plus(lineSize(line))
	}
	done()
}

// lineSize is what a line of code takes.
func lineSize(line string) size {
	line = disarmCode(line)
	return size{utf8.RuneCountInString(line) + 1, blockLength(line) - blockLength("") + 2}
}

// cutLine is how much of a line of code a fence can hold: at least a character.
func cutLine(line string, fence, limit size) int {
	for n := utf8.RuneCountInString(line) / 2; n > 1; n /= 2 {
		i := graphemeFloor(line, byteOffset(line, n))
		if i > 0 && fence.plus(lineSize(line[:i])).within(limit) {
			return i
		}
	}
	return byteOffset(line, 1)
}
