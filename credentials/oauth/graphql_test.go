package oauth

import (
	"encoding/json"
	"testing"
)

func TestWhichGraphQLReads(t *testing.T) {
	for document, reads := range map[string]bool{
		`{ viewer { login } }`:       true,
		`query { viewer { login } }`: true,
		`query Q($n: Int = 3, $o: Order = {by: [A, B]}) @x(y: 1) { a(n: $n) }`: true,
		"query A { a } fragment F on T { b ...F } query B { c }":               true,
		"# mutation { x }\n{ a }":                 true,
		`{ a(t: "mutation { x }") }`:              true,
		`{ a(t: """ } mutation { x } \""" """) }`: true,
		`{ mutation }`:                            true, // a field's name
		`query mutation { a }`:                    true, // an operation's name
		`mutation { x }`:                          false,
		`mutation M { x }`:                        false,
		`subscription { x }`:                      false,
		`query A { a } mutation B { b }`:          false,
		`{ a } mutation { b }`:                    false,
		"{ a } # x\rmutation { b }":               false, // a comment ends at either line end
		"{ a } \"\"\" \"\"\" mutation { b }":      false,
		`{ a(t: "\") } mutation { b }`:            false,
		`{ a(t: """ \""" """) } mutation { b }`:   false,
		"{ a(t: \"\n\") } mutation { b }":         false,
		`{ a`:                                     false,
		`{ a } }`:                                 false,
		`{ a ) }`:                                 false,
		`query`:                                   false,
		``:                                        false,
		`# nothing`:                               false,
		`type T { a: Int }`:                       false,
		`extend type Mutation { a: Int }`:         false,
		"\ufeffmutation { a }":                    false,
		"{ a } # \u2028 mutation { b }":           false,
		"{ a } # \u0085 mutation { b }":           false,
		"{ a } # \v mutation { b }":               false,
		"{ a }\u00a0mutation { b }":               false,
		`MUTATION { a }`:                          false,
	} {
		body, _ := json.Marshal(map[string]any{"query": document})
		if err := readingGraphQL(body); (err == nil) != reads {
			t.Errorf("%q: %v", document, err)
		}
	}
}

func TestWhichGraphQLBodiesAreUnclear(t *testing.T) {
	for _, body := range []string{
		``, `null`, `[]`, `"{ a }"`, `{}`, `{"query": null}`, `{"query": 3}`, `{"query": ""}`,
		`[{"query": "{ a }"}]`,
		`{"query": "{ a }", "query": "mutation { b }"}`,
		`{"query": "{ a }", "Query": "mutation { b }"}`,
		`{"query": "{ a }", "extensions": {"persistedQuery": {"sha256Hash": "x"}}}`,
		`{"query": "{ a }"} {"query": "mutation { b }"}`,
		`{"query": "{ a }"`,
		"{\"query\": \"{ a \xff }\"}",
		`{"id": "stored"}`,
	} {
		if err := readingGraphQL([]byte(body)); err == nil {
			t.Errorf("%s passes", body)
		}
	}
	if err := readingGraphQL([]byte(`{"query": "query Q { a }", "operationName": "Q", "variables": {"x": "mutation"}}`)); err != nil {
		t.Errorf("a plain one: %v", err)
	}
}

// Whatever is read as harmless holds no definition that writes, by a second
// reading: with strings and comments taken out, no "mutation" stands outside
// braces and parentheses.
func FuzzReadingDocument(f *testing.F) {
	for _, seed := range []string{`{ a }`, `query { a(t: "x") }`, `mutation { a }`, "{ a } # \n mutation { b }", `{ a(t: """ """) } mutation { b }`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if readingDocument(text) != nil {
			return
		}
		depth, names := 0, ""
		r := graphReader{rest: text}
		for {
			token, err := r.next()
			if err != nil {
				t.Fatalf("%q passes and cannot be read: %v", text, err)
			}
			if token == "" {
				break
			}
			switch token {
			case "{", "(", "[":
				depth++
			case "}", ")", "]":
				depth--
			case "mutation", "subscription":
				if depth == 0 && (names == "" || names == "}") {
					t.Fatalf("%q passes with %s", text, token)
				}
			}
			names = token
		}
		if depth != 0 {
			t.Fatalf("%q passes unbalanced", text)
		}
	})
}
