package web

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// writer makes text of a page's elements, in the little Markdown that says what
// is a heading, a list, code, a quote. It stops when it is full.
type writer struct {
	title string
	base  *url.URL
	limit int
	full  bool

	out    strings.Builder
	breaks int  // line breaks that are due before the next word
	space  bool // a space is due
	prefix string

	lists []int // of each list around, its last number; -1: no numbers
	quote int
	pre   int
	links []link

	cells   int // of the row, so far
	cell    int // where the last of them begins
	inCells int // how many are around
}

// link is a link that is open, and where its text began.
type link struct {
	to string
	at int
}

// String is what was written.
func (w *writer) String() string { return strings.TrimSpace(w.out.String()) }

// words writes text.
func (w *writer) words(text string) {
	text = plain(text)
	if w.pre > 0 {
		for i, line := range strings.Split(text, "\n") {
			if i > 0 {
				w.breaks = min(w.breaks+1, 3)
			}
			if line != "" {
				w.put(line)
			}
		}
		return
	}
	for text != "" {
		start := strings.IndexFunc(text, func(r rune) bool { return r != ' ' && r != '\n' && r != '\t' })
		if start != 0 {
			w.space = true
		}
		if start < 0 {
			return
		}
		text = text[start:]
		end := strings.IndexAny(text, " \n\t")
		if end < 0 {
			end = len(text)
		}
		w.put(text[:end])
		text = text[end:]
	}
}

// put writes a piece, after the breaks or the space that are due.
func (w *writer) put(piece string) {
	if w.full {
		return
	}
	switch {
	case w.out.Len() == 0:
		w.line()
	case w.breaks > 0:
		w.out.WriteString("\n\n\n"[:min(w.breaks, 3)])
		w.line()
	case w.space:
		w.out.WriteByte(' ')
	}
	w.breaks, w.space = 0, false
	if room := w.limit - w.out.Len(); len(piece) > room {
		piece, w.full = strings.ToValidUTF8(piece[:max(room, 0)], ""), true
	}
	w.out.WriteString(piece)
}

// line begins a line.
func (w *writer) line() {
	w.out.WriteString("> > > "[:2*min(w.quote, 3)])
	w.out.WriteString(w.prefix)
	w.prefix = ""
}

// due asks for at least so many line breaks before the next word. Between a
// bullet and its item, and where a cell begins, there are none.
func (w *writer) due(n int) {
	if w.prefix == "" && w.out.Len() != w.cell {
		w.breaks = max(w.breaks, n)
	}
}

// around asks for the breaks that stand around an element: inside of items and
// cells there are no empty lines.
func (w *writer) around(tag atom.Atom) {
	n := gap(tag)
	if len(w.lists) > 0 || w.inCells > 0 {
		n = min(n, 1)
	}
	w.due(n)
}

func (w *writer) open(tag atom.Atom, attribute func(string) string) {
	switch tag {
	case atom.Br:
		w.due(1)
	case atom.Hr:
		w.due(2)
		w.put("---")
		w.due(2)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.due(2)
		w.prefix = "######"[:tag.String()[1]-'0'] + " "
	case atom.Ul, atom.Menu:
		w.list(-1)
	case atom.Ol:
		w.list(0)
	case atom.Li:
		w.due(1)
		w.prefix = w.bullet()
	case atom.Tr:
		w.due(1)
		w.cells = 0
	case atom.Td, atom.Th:
		w.inCells++
		if w.cells++; w.cells > 1 {
			w.breaks, w.space = 0, true
			w.put("|")
			w.cell, w.space = w.out.Len(), true
		}
	case atom.Blockquote:
		w.due(2)
		w.quote++
	case atom.Pre:
		w.due(2)
		w.put("```")
		w.due(1)
		w.pre++
	case atom.Code:
		if w.pre == 0 {
			w.mark()
		}
	case atom.A:
		if len(w.links) < 16 {
			w.links = append(w.links, link{w.address(attribute("href")), w.out.Len()})
		}
	case atom.Img:
		if alt := strings.TrimSpace(attribute("alt")); alt != "" {
			w.words("[image: " + alt[:min(len(alt), 300)] + "]")
		}
	default:
		w.around(tag)
	}
}

func (w *writer) close(tag atom.Atom) {
	switch tag {
	case atom.Ul, atom.Menu, atom.Ol:
		if len(w.lists) > 0 {
			w.lists = w.lists[:len(w.lists)-1]
		}
		w.prefix = ""
		w.due(min(2, 2-min(len(w.lists), 1)))
	case atom.Td, atom.Th:
		w.inCells = max(w.inCells-1, 0)
	case atom.Li, atom.Tr:
		w.prefix, w.cell = "", 0
		w.due(1)
	case atom.Blockquote:
		w.due(2)
		w.quote = max(w.quote-1, 0)
	case atom.Pre:
		if w.pre > 0 {
			w.pre--
			w.breaks = 1
			w.put("```")
		}
		w.due(2)
	case atom.Code:
		if w.pre == 0 {
			w.out.WriteByte('`')
		}
	case atom.A:
		if len(w.links) > 0 {
			l := w.links[len(w.links)-1]
			w.links = w.links[:len(w.links)-1]
			w.linked(l)
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.prefix = ""
		w.due(2)
	default:
		w.around(tag)
	}
}

// gap is how many line breaks stand around an element.
func gap(tag atom.Atom) int {
	switch tag {
	case atom.P, atom.Table, atom.Section, atom.Article, atom.Main, atom.Header, atom.Figure, atom.Dl, atom.Fieldset, atom.Details:
		return 2
	case atom.Div, atom.Dt, atom.Dd, atom.Figcaption, atom.Summary, atom.Caption, atom.Address, atom.Form, atom.Option, atom.Legend:
		return 1
	}
	return 0
}

func (w *writer) list(number int) {
	w.due(2 - min(len(w.lists), 1))
	w.lists = append(w.lists, number)
}

// bullet is what stands before an item.
func (w *writer) bullet() string {
	if len(w.lists) == 0 {
		return "- "
	}
	last := len(w.lists) - 1
	indent := strings.Repeat("  ", min(last, 8))
	if w.lists[last] < 0 {
		return indent + "- "
	}
	w.lists[last]++
	return indent + strconv.Itoa(w.lists[last]) + ". "
}

// mark opens inline code.
func (w *writer) mark() { w.put("`") }

// address is where a link leads, when it leads anywhere.
func (w *writer) address(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > 500 {
		return ""
	}
	to, err := w.base.Parse(href)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" && to.Scheme != "mailto" {
		return ""
	}
	return to.String()
}

// linked writes where a link leads behind its text.
func (w *writer) linked(l link) {
	if l.to == "" || w.full || l.at >= w.out.Len() {
		return
	}
	if text := strings.TrimSpace(w.out.String()[l.at:]); text == "" || text == l.to {
		return
	}
	w.breaks, w.space = 0, true
	w.put("(" + l.to + ")")
}
