package render

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// table writes a table: as one where Slack shows them, aligned in a block of
// code in mrkdwn, and with bars between its cells in plain text.
func (w *writer) table(n *east.Table) string {
	head, rows := w.cells(n)
	switch w.form {
	case asSource, asMarkdown:
		out := []string{tableRow(head), tableRule(n.Alignments, len(head))}
		for _, row := range rows {
			out = append(out, tableRow(row))
		}
		return strings.Join(out, "\n")
	case asMrkdwn:
		return w.alignedTable(n)
	}
	out := []string{strings.Join(head, " | ")}
	for _, row := range rows {
		out = append(out, strings.Join(row, " | "))
	}
	return strings.Join(out, "\n")
}

func (w *writer) cells(n *east.Table) (head []string, rows [][]string) {
	w.inCell = true
	defer func() { w.inCell = false }()
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.TrimSpace(strings.ReplaceAll(w.inlines(cell), "\n", " ")))
		}
		if _, ok := row.(*east.TableHeader); ok {
			head = cells
			continue
		}
		rows = append(rows, cells)
	}
	return head, rows
}

func tableRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

func tableRule(alignments []east.Alignment, columns int) string {
	rule := make([]string, columns)
	for i := range rule {
		rule[i] = "---"
		if i >= len(alignments) {
			continue
		}
		switch alignments[i] {
		case east.AlignLeft:
			rule[i] = ":--"
		case east.AlignRight:
			rule[i] = "--:"
		case east.AlignCenter:
			rule[i] = ":-:"
		}
	}
	return tableRow(rule)
}

// maxPadding bounds the width to which a column is filled up.
const maxPadding = 40

// alignedTable is a table in characters of one width.
func (w *writer) alignedTable(n *east.Table) string {
	var rows [][]string
	var width []int
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text := strings.Join(strings.Fields(w.bareCell(cell)), " ")
			if len(width) == len(cells) {
				width = append(width, 0)
			}
			width[len(cells)] = min(maxPadding, max(width[len(cells)], utf8.RuneCountInString(text)))
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	out := make([]string, 0, len(rows))
	for _, cells := range rows {
		for i := range cells {
			if i < len(cells)-1 {
				cells[i] += strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(cells[i])))
			}
		}
		out = append(out, strings.Join(cells, " | "))
	}
	return w.fence(out, "")
}

// bareCell is a cell's text with the targets of its links.
func (w *writer) bareCell(cell ast.Node) string {
	text := w.bare(cell)
	_ = ast.Walk(cell, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			if to, ok := checkURL(decode(link.Destination)); ok && !strings.Contains(text, to.url) {
				text += " (" + to.url + ")"
			}
		}
		return ast.WalkContinue, nil
	})
	return text
}
