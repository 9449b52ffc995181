package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"reeve/agent"
)

// likes are sentences in which somebody says how he likes things: all that the
// demo notices.
var likes = regexp.MustCompile(`(?i)\bI (?:prefer|like|always want|never want) [^.!?\n]{3,120}`)

// notes answers a request for JSON of a form, as those who ask for notes about a
// person do, and for a review of them. What the demo has no notion of gets an
// empty object, which fits no form.
func notes(req agent.Request) agent.Reply {
	var form struct {
		Properties map[string]any `json:"properties"`
	}
	if json.Unmarshal(req.Schema, &form) != nil || len(req.Messages) == 0 {
		return agent.Reply{Text: "{}"}
	}
	given := req.Messages[len(req.Messages)-1].Content
	switch {
	case form.Properties["memories"] != nil:
		return agent.Reply{Text: noticed(given)}
	case form.Properties["verdicts"] != nil:
		return agent.Reply{Text: cleared(given)}
	}
	return agent.Reply{Text: "{}"}
}

// noticed are notes of what entries say their author likes.
func noticed(given string) string {
	var entries []struct {
		Entry  int
		Author string
		Text   string
	}
	type citation struct {
		Entry int    `json:"entry"`
		Span  string `json:"span"`
	}
	type note struct {
		Kind     string     `json:"kind"`
		Topic    string     `json:"topic"`
		Text     string     `json:"text"`
		Evidence []citation `json:"evidence"`
	}
	found := []note{}
	_ = json.Unmarshal([]byte(given), &entries)
	for _, e := range entries {
		if e.Author != "" {
			continue // it is not about one person
		}
		for _, said := range likes.FindAllString(e.Text, -1) {
			words := strings.Fields(said)
			found = append(found, note{
				Kind: "preference", Topic: strings.ToLower(strings.Join(words[1:min(len(words), 5)], " ")),
				Text: "Has said: " + said, Evidence: []citation{{e.Entry, said}},
			})
		}
	}
	text, _ := json.Marshal(map[string]any{"memories": found})
	return string(text)
}

// cleared lets every note pass: the demo cannot judge.
func cleared(given string) string {
	var list []struct{ Memory int }
	_ = json.Unmarshal([]byte(given), &list)
	var verdicts []string
	for _, n := range list {
		verdicts = append(verdicts, fmt.Sprintf(`{"memory":%d,"sensitive":false,"of_others":false,"order":false}`, n.Memory))
	}
	return `{"verdicts":[` + strings.Join(verdicts, ",") + `]}`
}
