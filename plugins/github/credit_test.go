package github_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"reeve/cmd/app/apptest/golden"
	"reeve/plugins"
	"reeve/plugins/github"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

type chatPerson = chat.Actor

// In a conflict everybody whose words went in is named, once, and nobody's name
// is more than a name.
func TestWhoIsCredited(t *testing.T) {
	h := newHub()
	turn := h.host(t, plugintest.Apps("acme")).As(plugintest.Alice, "Open an issue.")
	turn.Steers(plugintest.Bob, "say that it is urgent").Steers(plugintest.Carol, "and red").Steers(plugintest.Bob, "please").Steers(chat.Actor{}, "x")
	done(t, turn.Calls("github_create_issue", issueArguments))
	golden.Holds(t, filepath.Join("testdata", "credit.golden"), strings.Join(h.written(), "\n")+"\n")
}

// The line that says for whom stands in front, and is one paragraph of plain
// words and code, whatever somebody calls himself and whatever the text holds.
func FuzzCredit(f *testing.F) {
	f.Add("Bob", "Always.")
	f.Add("@octocat #1 acme/app#2", "<!-- <details>")
	f.Add("`` ` `\n\n# Heading", "===\n```")
	f.Add("[a](https://evil.example) <b> www.evil.example", "[Reeve]: https://evil.example")
	f.Add("\u202eeve\u0301\u0301\u0301\u0301\u0301", "| a |\n|---|")
	f.Add(strings.Repeat("long ", 100), "-->")
	f.Fuzz(func(t *testing.T, name, body string) {
		call := plugins.Call{Run: plugins.Run{
			Actor: plugintest.Alice, Contributors: []chat.Actor{plugintest.Bob},
			Transcript: []plugins.Entry{{Author: plugintest.Bob, Name: name}},
		}}
		written := github.Credited("t/1", "alice", call.Run, body)
		source := []byte(written)
		doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
		first := doc.FirstChild()
		if first == nil || first.Kind() != ast.KindHTMLBlock {
			t.Fatalf("no mark in front: %q", written)
		}
		credit := first.NextSibling()
		if credit == nil || credit.Kind() != ast.KindParagraph {
			t.Fatalf("no line for whom: %q", written)
		}
		words := ""
		for node := credit.FirstChild(); node != nil; node = node.NextSibling() {
			switch node := node.(type) {
			case *ast.Text:
				words += string(node.Segment.Value(source))
			case *ast.CodeSpan:
			default:
				t.Errorf("the line holds a %s: %q", node.Kind(), written)
			}
		}
		if !strings.HasPrefix(words, "Reeve wrote this for @alice, who asked for it in Slack. Words of others went into it: ") || strings.Count(words, "@") != 1 || strings.Contains(words, "#") {
			t.Errorf("outside of code the line says %q", words)
		}
		if line := strings.Split(written, "\n")[1]; strings.Count(line, "@") != 1 || len(line) > 400 {
			t.Errorf("the line is %q", line)
		}
	})
}

// What is left of a name is a name.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"Bob Brown":                       "`Bob Brown` (`U0BOB` in Slack)",
		"":                                "`U0BOB` in Slack",
		"@@@ ```":                         "`U0BOB` in Slack",
		"@octocat":                        "`octocat` (`U0BOB` in Slack)",
		"Zoë O'Neill-Łuk (she)":           "`Zoë O'Neill-Łuk (she)` (`U0BOB` in Slack)",
		"佐藤 さん":                           "`佐藤 さん` (`U0BOB` in Slack)",
		"a`b</code><script>":              "`a b code script` (`U0BOB` in Slack)",
		"x\n/approve":                     "`x approve` (`U0BOB` in Slack)",
		"\u202eevil\u200b\u2066":          "`evil` (`U0BOB` in Slack)",
		"z\u0301\u0302\u0303\u0304\u0305": "`z\u0301\u0302` (`U0BOB` in Slack)",
		strings.Repeat("n", 200):          "`" + strings.Repeat("n", 40) + "` (`U0BOB` in Slack)",
	} {
		run := plugins.Run{Actor: plugintest.Alice, Contributors: []chat.Actor{plugintest.Bob}, Transcript: []plugins.Entry{{Author: plugintest.Bob, Name: name}}}
		line := strings.Split(github.Credited("t/1", "alice", run, "x"), "\n")[1]
		if _, got, _ := strings.Cut(line, "into it: "); got != want+"." {
			t.Errorf("%q is credited as %q, want %q", name, got, want)
		}
	}
}

// Nothing is credited to a person twice, and many are counted.
func TestManyContributors(t *testing.T) {
	run := plugins.Run{Actor: plugintest.Alice, Contributors: []chat.Actor{plugintest.Alice}}
	if got := github.Credited("t/1", "alice", run, "x"); strings.Contains(got, "others") {
		t.Errorf("she is credited twice: %q", got)
	}
	for _, letter := range "ABCDEFGHIJKLM" {
		run.Contributors = append(run.Contributors, chat.Person("T0HOME", chat.UserID("U"+string(letter))))
	}
	if got := github.Credited("t/1", "alice", run, "x"); !strings.Contains(got, "`UJ` in Slack, and 3 more.") {
		t.Errorf("the line is %q", got)
	}
}

// A read mark is no other call's.
func TestMarksDiffer(t *testing.T) {
	a, _, _ := strings.Cut(github.Credited("t/1", "alice", plugins.Run{}, "x"), "\n")
	b, _, _ := strings.Cut(github.Credited("t/2", "alice", plugins.Run{}, "x"), "\n")
	if a == b || strings.Contains(a, "t/1") {
		t.Errorf("marks are %q and %q", a, b)
	}
}
