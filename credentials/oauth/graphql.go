package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Whether a GraphQL request only reads is decided by a strict reader of our own
// and not by a parser of the language: it has to know where each definition
// begins and ends and nothing else, and it refuses whatever it does not know, so
// that no two readers of the same text can disagree about it.

// These say why a GraphQL request is no reading one.
var (
	errMutation = errors.New("it holds a mutation or a subscription, and this call may only read")
	errUnclear  = errors.New("it is no plain GraphQL query, and this call may only read")
)

// maxGraphQL bounds a request that is looked at.
const maxGraphQL = 256 << 10

// readingGraphQL looks at the body of a request: one JSON object with a query of
// queries and fragments alone.
func readingGraphQL(body []byte) error {
	if !utf8.Valid(body) {
		return errUnclear
	}
	query, err := queryOf(body)
	if err != nil {
		return err
	}
	return readingDocument(query)
}

// queryOf is the document of a request. Members that are named twice, or in
// another case, or are not known (a stored query's hash) may mean something else
// to the server than to us.
func queryOf(body []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return "", errUnclear
	}
	seen := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		key, ok := name.(string)
		if err != nil || !ok {
			return "", errUnclear
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return "", errUnclear
		}
		if _, twice := seen[key]; twice || key != "query" && key != "variables" && key != "operationName" {
			return "", errUnclear
		}
		seen[key] = value
	}
	if last, err := decoder.Token(); err != nil || last != json.Delim('}') {
		return "", errUnclear
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "", errUnclear
	}
	var query string
	if seen["query"] == nil || json.Unmarshal(seen["query"], &query) != nil || query == "" {
		return "", errUnclear
	}
	return query, nil
}

// readingDocument looks at each definition of a document: it begins with a brace
// (a query without a name), with "query" or with "fragment", and ends where the
// braces of its selection close.
func readingDocument(text string) error {
	// What some take for the end of a line, and so of a comment, and others do not.
	if strings.ContainsAny(text, "\v\f\u0085\u2028\u2029\x00") {
		return errUnclear
	}
	r := graphReader{rest: text}
	for definitions := 0; ; definitions++ {
		token, err := r.next()
		switch {
		case err != nil:
			return err
		case token == "" && definitions == 0:
			return errUnclear
		case token == "":
			return nil
		case token == "mutation" || token == "subscription":
			return errMutation
		case token == "{":
			err = r.within("}")
		case token == "query" || token == "fragment":
			err = r.selection()
		default:
			err = errUnclear
		}
		if err != nil {
			return err
		}
	}
}

// graphReader reads tokens: a name, one punctuator, or "0" for a number or "\"" for
// a string, whose values do not matter here.
type graphReader struct{ rest string }

const (
	graphString = `"`
	graphNumber = "0"
)

// selection skips to the braces of a definition, and over them. Variables and
// directives stand in front of it, in parentheses.
func (r *graphReader) selection() error {
	for {
		token, err := r.next()
		switch {
		case err != nil:
			return err
		case token == "{":
			return r.within("}")
		case token == "(":
			if err := r.within(")"); err != nil {
				return err
			}
		case token == "@" || isName(token):
		default:
			return errUnclear
		}
	}
}

// within skips to the end of what a bracket has opened.
func (r *graphReader) within(end string) error {
	open := []string{end}
	for len(open) > 0 {
		token, err := r.next()
		if err != nil {
			return err
		}
		switch token {
		case "":
			return errUnclear
		case "{":
			open = append(open, "}")
		case "(":
			open = append(open, ")")
		case "[":
			open = append(open, "]")
		case "}", ")", "]":
			if open[len(open)-1] != token {
				return errUnclear
			}
			open = open[:len(open)-1]
		}
	}
	return nil
}

// next is the next token, or "" at the end.
func (r *graphReader) next() (string, error) {
	r.skip()
	if r.rest == "" {
		return "", nil
	}
	c := r.rest[0]
	switch {
	case c == '"':
		return graphString, r.text()
	case isNameStart(c):
		n := 1
		for n < len(r.rest) && (isNameStart(r.rest[n]) || isDigit(r.rest[n])) {
			n++
		}
		return r.take(n), nil
	case isDigit(c) || c == '-':
		n := 1
		for n < len(r.rest) && (isNameStart(r.rest[n]) || isDigit(r.rest[n]) || strings.IndexByte(".+-", r.rest[n]) >= 0) {
			n++
		}
		r.take(n)
		return graphNumber, nil
	case strings.HasPrefix(r.rest, "..."):
		return r.take(3), nil
	case strings.IndexByte("!$&()[]{}:=@|", c) >= 0:
		return r.take(1), nil
	}
	return "", errUnclear
}

func (r *graphReader) take(n int) string {
	token := r.rest[:n]
	r.rest = r.rest[n:]
	return token
}

// skip leaves out white space, commas, comments and a mark of byte order in front.
func (r *graphReader) skip() {
	for r.rest != "" {
		switch {
		case strings.IndexByte(" \t\r\n,", r.rest[0]) >= 0:
			r.rest = r.rest[1:]
		case r.rest[0] == '#':
			n := strings.IndexAny(r.rest, "\r\n")
			if n < 0 {
				n = len(r.rest)
			}
			r.rest = r.rest[n:]
		default:
			return
		}
	}
}

// text skips a string, which begins at the rest.
func (r *graphReader) text() error {
	if strings.HasPrefix(r.rest, `"""`) {
		for i := 3; i < len(r.rest); i++ {
			switch {
			case strings.HasPrefix(r.rest[i:], `\"""`):
				i += 3
			case strings.HasPrefix(r.rest[i:], `"""`):
				r.rest = r.rest[i+3:]
				return nil
			}
		}
		return errUnclear
	}
	for i := 1; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '\\':
			i++
		case '\r', '\n':
			return errUnclear
		case '"':
			r.rest = r.rest[i+1:]
			return nil
		}
	}
	return errUnclear
}

func isName(token string) bool { return token != "" && isNameStart(token[0]) }
func isNameStart(c byte) bool  { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool      { return c >= '0' && c <= '9' }
