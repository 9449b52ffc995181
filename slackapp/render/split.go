package render

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// Split cuts Markdown into pieces that one post can hold each, at the borders
// of its blocks. A list is cut between its items and a table between its rows,
// with its head again; a block of code that is too long for one post is closed
// and opened again with the same info string; a paragraph is cut at the end of
// a line, a sentence or a word, and nowhere inside of a character. Nothing but
// blank space is left out; a text with nothing in it has no pieces.
func Split(markdown string) []string { return split(markdown, size{maxMarkdown, maxBlocks}) }

// SplitWithin is Split with pieces of so many characters at most, about.
func SplitWithin(markdown string, most int) []string {
	return split(markdown, size{most, most * maxBlocks / maxMarkdown})
}

func split(markdown string, limit size) []string {
	source := clean(markdown)
	if strings.TrimSpace(source) == "" {
		return nil
	}
	s := splitter{w: newWriter(source, asSource, Options{}), limit: limit}
	if s.fits(source) {
		return []string{strings.Trim(source, "\n")}
	}
	for n := parse(s.w.src).FirstChild(); n != nil; n = n.NextSibling() {
		s.block(n)
	}
	s.flush()
	if len(s.pieces) == 0 {
		// Definitions alone, which show nothing; they are text to whoever
		// wrote them.
		s.text(escapeText(source, asSource), "\n\n")
		s.flush()
	}
	return s.pieces
}

// size is what a piece takes of a post, in characters: its markdown, as it is
// or as it is rendered, whichever is longer; and its blocks as JSON.
type size struct{ markdown, blocks int }

func (a size) plus(b size) size      { return size{a.markdown + b.markdown, a.blocks + b.blocks} }
func (a size) within(most size) bool { return a.markdown <= most.markdown && a.blocks <= most.blocks }

// gapSize is the most that may stand between two blocks.
var gapSize = size{3, 5}

func (s *splitter) sizeOf(piece string) size {
	if len(piece) > 8*s.limit.blocks {
		return size{len(piece), len(piece)} // too long, whatever it renders to
	}
	rendered := formatted(piece, asMarkdown, Options{})
	return size{max(utf8.RuneCountInString(rendered), utf8.RuneCountInString(piece)), blockLength(rendered)}
}

// fits reports whether one post can hold a piece.
func (s *splitter) fits(piece string) bool { return s.sizeOf(piece).within(s.limit) }

// splitter packs what it is given into as few pieces as it can.
type splitter struct {
	w      *writer
	limit  size
	pieces []string
	piece  strings.Builder
	spent  size // about the piece's; see room
}

func (s *splitter) flush() {
	if piece := strings.Trim(s.piece.String(), "\n"); strings.TrimSpace(piece) != "" {
		s.pieces = append(s.pieces, piece)
	}
	s.piece.Reset()
	s.spent = size{}
}

// add puts a text that fits into the piece, or begins a new one.
func (s *splitter) add(text, gap string) {
	more := s.sizeOf(text).plus(gapSize)
	if s.piece.Len() > 0 && !s.room(gap+text, more) {
		s.flush()
	}
	if s.piece.Len() > 0 {
		s.piece.WriteString(gap)
	}
	s.piece.WriteString(text)
	s.spent = s.spent.plus(more)
}

// room reports whether a text that takes so much more fits behind the piece. The
// sum of what pieces take is about what they take together: a list whose parts
// meet in one piece may be set with more lines between its items than any part
// was. So a piece that is half full is measured with what is to be added.
func (s *splitter) room(text string, more size) bool {
	sum := s.spent.plus(more)
	if !sum.within(s.limit) {
		return false
	}
	return sum.plus(sum).within(s.limit) || s.fits(s.piece.String()+text)
}

// block adds a block, whole where it fits.
func (s *splitter) block(n ast.Node) {
	text := s.w.block(n)
	if text == "" {
		return
	}
	if s.fits(text) {
		s.add(text, "\n\n")
		return
	}
	switch n := n.(type) {
	case *ast.List:
		s.list(n)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		s.code(n, text)
	case *east.Table:
		s.table(n)
	case *ast.Blockquote:
		s.inside(n, "\n>\n", func(piece string) string { return prefix(piece, "> ", "> ") }, "")
	default:
		s.text(text, "\n\n")
	}
}

// inside splits what stands in a container and dresses every piece of it. A piece
// that has no room for its dress goes without; before the first one stands then
// what the dress would have said.
func (s *splitter) inside(n ast.Node, gap string, dress func(string) string, said string) {
	inner := splitter{w: s.w, limit: s.limit}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		inner.block(child)
		// Each child for itself, so that the dress finds room.
		inner.flush()
	}
	before := "\n\n"
	for i, piece := range inner.pieces {
		if dressed := dress(piece); s.fits(dressed) {
			s.add(dressed, before)
			before = gap
			continue
		}
		if i == 0 && said != "" {
			s.add(said, "\n\n")
		}
		s.add(piece, "\n\n")
		before = "\n\n"
	}
}

func (s *splitter) list(n *ast.List) {
	gap := "\n\n"
	if n.IsTight {
		gap = "\n"
	}
	number := n.Start
	before := "\n\n"
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		text := s.w.item(n, number, s.w.nested(item, gap))
		if s.fits(text) {
			s.add(text, before)
		} else {
			first := true
			s.inside(item, "\n\n", func(piece string) string {
				if !first {
					return piece
				}
				first = false
				return s.w.item(n, number, piece)
			}, escapeText(strings.TrimSpace(s.w.item(n, number, "")), asSource))
		}
		number++
		before = gap
	}
}

func (s *splitter) table(n *east.Table) {
	head, rows := s.w.cells(n)
	top := tableRow(head) + "\n" + tableRule(n.Alignments, len(head))
	open := false
	for _, row := range rows {
		line := tableRow(row)
		whole := top + "\n" + line
		switch {
		case !s.fits(whole):
			// A row that no post can hold is told as text, cell by cell.
			open = false
			for i, cell := range row {
				if i < len(head) && head[i] != "" && s.fits(head[i]+": "+cell) {
					cell = head[i] + ": " + cell
				}
				s.text(cell, "\n\n")
			}
		case open && s.spent.plus(s.sizeOf(whole)).plus(gapSize).within(s.limit):
			s.add(line, "\n")
		default:
			if open {
				s.flush()
			}
			s.add(whole, "\n\n")
			open = true
		}
	}
	if len(rows) == 0 {
		s.text(top, "\n\n")
	}
}
