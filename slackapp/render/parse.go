package render

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// reader reads CommonMark with tables, strike-through, task lists and bare
// links. HTML is not read: Slack shows none, so it stays text.
var reader = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(tokenParser{}, 150),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	),
	parser.WithASTTransformers(
		util.Prioritized(extension.NewTableASTTransformer(), 0),
	),
)

func parse(source []byte) ast.Node { return reader.Parse(text.NewReader(source)) }

// token is one of Slack's own tokens (<@U1>, <!here>, <#C1|name>, <url|label>)
// or a <br>, which models write although they are asked for Markdown.
type token struct {
	ast.BaseInline
	kind  byte // '@', '!', '#', 'u' for a link, 'b' for a break
	body  string
	label string
}

var kindToken = ast.NewNodeKind("SlackToken")

func (*token) Kind() ast.NodeKind         { return kindToken }
func (t *token) Dump(src []byte, lvl int) { ast.DumpHelper(t, src, lvl, nil, nil) }

type tokenParser struct{}

func (tokenParser) Trigger() []byte { return []byte{'<'} }

var (
	slackToken = regexp.MustCompile(`^<([@!#])([A-Za-z0-9][A-Za-z0-9._-]*(?:\^[^<>|\n]*)?)(?:\|([^<>|\n]*))?>`)
	slackLink  = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9+.-]*:[^\s<>|]*)\|([^<>|\n]*)>`)
	lineBreak  = regexp.MustCompile(`^(?i)<br\s*/?>`)
)

func (tokenParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if m := lineBreak.Find(line); m != nil {
		block.Advance(len(m))
		return &token{kind: 'b'}
	}
	if m := slackToken.FindSubmatch(line); m != nil {
		block.Advance(len(m[0]))
		return &token{kind: m[1][0], body: string(m[2]), label: string(m[3])}
	}
	if m := slackLink.FindSubmatch(line); m != nil {
		block.Advance(len(m[0]))
		return &token{kind: 'u', body: string(m[1]), label: string(m[2])}
	}
	return nil
}

// clean takes out what nobody can see but a reader may trip over: characters
// of control, the directional overrides, and our own placeholders.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "�")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case unicode.IsControl(r), r == '\u202d', r == '\u202e', r >= heldFirst:
			return -1
		}
		return r
	}, s)
}

var entity = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{0,31});`)

// decode undoes backslash escapes and entities, in one pass.
func decode(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '&') < 0 {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]) {
			i++
			b.WriteByte(raw[i])
			continue
		}
		if raw[i] == '&' {
			if m := entity.Find(raw[i:]); m != nil {
				// A line that an entity would begin is only a space.
				b.WriteString(strings.Map(flatten, clean(html.UnescapeString(string(m)))))
				i += len(m) - 1
				continue
			}
		}
		b.WriteByte(raw[i])
	}
	return b.String()
}

func flatten(r rune) rune {
	if r == '\n' || r == '\t' {
		return ' '
	}
	return r
}
