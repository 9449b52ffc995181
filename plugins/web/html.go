package web

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML makes text of a page: its main part where it names one, without
// navigation, scripts and what is not shown. Its work grows with the page's
// length and no faster, whatever the page holds; a converter to Markdown that
// was tried took a minute for a line of brackets.
func readHTML(source string, base *url.URL, limit int) (title, text string, cut bool) {
	w := &writer{limit: limit, base: base}
	doc, err := html.ParseWithOptions(strings.NewReader(source), html.ParseOptionEnableScripting(false))
	if err != nil { // nested too deep for a tree
		w.tokens(source)
		return w.title, w.String(), w.full
	}
	main := w.look(doc)
	w.walk(main)
	return w.title, w.String(), w.full
}

// look goes over a whole page once: for its title and base, and for the part of
// it that is worth reading.
func (w *writer) look(doc *html.Node) *html.Node {
	var body *html.Node
	var mains, articles []*html.Node
	each(doc, func(n *html.Node) bool {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Title && w.title == "" && n.FirstChild != nil && n.Namespace == "":
			w.title = shortTitle(n.FirstChild.Data)
		case n.DataAtom == atom.Base:
			if to, err := w.base.Parse(attribute(n, "href")); err == nil && (to.Scheme == "http" || to.Scheme == "https") {
				w.base = to
			}
		case n.DataAtom == atom.Body && body == nil:
			body = n
		case unseen(n):
			return false
		case n.DataAtom == atom.Main || attribute(n, "role") == "main":
			mains = append(mains, n)
		case n.DataAtom == atom.Article:
			articles = append(articles, n)
		}
		return true
	}, nil)
	switch {
	case len(mains) == 1:
		return mains[0]
	case len(articles) == 1:
		return articles[0]
	case body != nil:
		return body
	}
	return doc
}

func shortTitle(text string) string {
	text = strings.Join(strings.Fields(plain(text)), " ")
	return strings.ToValidUTF8(text[:min(len(text), 300)], "")
}

// walk writes a part of a page.
func (w *writer) walk(root *html.Node) {
	each(root, func(n *html.Node) bool {
		switch n.Type {
		case html.TextNode:
			w.words(n.Data)
		case html.ElementNode:
			if unseen(n) || n != root && beside(n) {
				return false
			}
			w.open(n.DataAtom, func(key string) string { return attribute(n, key) })
		}
		return !w.full
	}, func(n *html.Node) {
		if n.Type == html.ElementNode {
			w.close(n.DataAtom)
		}
	})
}

// tokens writes a page without a tree: everything that is no script.
func (w *writer) tokens(source string) {
	skip := atom.Atom(0)
	for z := html.NewTokenizer(strings.NewReader(source)); !w.full; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			switch skip {
			case 0:
				w.words(string(z.Text())) // with its entities undone
			case atom.Title:
				if w.title == "" {
					w.title = shortTitle(string(z.Text()))
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			switch tag := atom.Lookup(name); tag {
			case atom.Script, atom.Style, atom.Title, atom.Noscript, atom.Iframe, atom.Textarea:
				skip = tag
			default:
				w.open(tag, func(string) string { return "" })
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if tag := atom.Lookup(name); tag == skip {
				skip = 0
			} else {
				w.close(tag)
			}
		}
	}
}

// each visits a node and what is below it, in reading order. enter says whether
// to go below; leave comes after what it let in. There is no recursion: a page
// decides how deep it is.
func each(root *html.Node, enter func(*html.Node) bool, leave func(*html.Node)) {
	n := root
	for {
		down := enter(n)
		if down && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		if down && leave != nil {
			leave(n)
		}
		for n != root && n.NextSibling == nil {
			if n = n.Parent; leave != nil {
				leave(n)
			}
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

// unseen: nobody who looks at the page reads it.
func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Math, atom.Canvas,
		atom.Noframes, atom.Select, atom.Textarea, atom.Button, atom.Input, atom.Dialog, atom.Audio, atom.Video:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return a.Val == "true"
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") || strings.Contains(style, "font-size:0;") {
				return true
			}
		}
	}
	return false
}

// beside: it is around what the page is about.
func beside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside, atom.Head:
		return true
	}
	switch attribute(n, "role") {
	case "navigation", "banner", "contentinfo", "search", "dialog":
		return true
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
