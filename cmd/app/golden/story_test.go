package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"reeve/agent/scripted"
)

// story is one file of testdata: a conversation and what came of it.
type story struct {
	name     string
	file     string
	archive  *txtar.Archive
	settings []string // NAME=VALUE
	steps    []step
	expect   string

	cast cast
	play *play
}

// step is one line of a story's "slack" section. It says something or waits for
// something.
type step struct {
	// Say names who writes Text: a person, or Deploybot.
	Say  string `json:"say"`
	Text string `json:"text"`
	// As is the message's label, m1 and so on when it is empty.
	As string `json:"as"`
	// In is the label of the message in whose thread it stands; "top": in none.
	// Empty: in the thread of the story's first message.
	In string `json:"in"`
	// Channel is "channel" (when empty), "private", "shared" or "dm".
	Channel string `json:"channel"`
	// By says what posts it in the name of Say: "bot", "workflow", "app".
	By string `json:"by"`
	// Twin is how a mention's two events come: "message_first" (when empty),
	// "mention_first", "message_only", "mention_only".
	Twin string `json:"twin"`
	// Before: no event is sent, as for what is older than the bot.
	Before bool `json:"before"`
	// Along: the next step does not wait until it is known what became of it.
	Along bool `json:"along"`
	// Repeat: Slack delivers it a second time.
	Repeat bool `json:"repeat"`

	// Edit, Delete, Unfurl, React and Press name the message to which that is
	// done, "post" being the bot's last one: Edit gives it another Text, React
	// the reaction Text (the stop sign when empty), and Press is Slack's own Stop
	// button in its thread. Who does it is the message's author when empty.
	Edit   string `json:"edit"`
	Delete string `json:"delete"`
	Unfurl string `json:"unfurl"`
	React  string `json:"react"`
	Press  string `json:"press"`
	Who    string `json:"who"`

	// Wait is "request" (the N-th one of the model is there), "ended" (N turns
	// have), "posts" (N of the bot's), "private" (N ephemeral messages), or
	// "reaction" (Text stands on the message with the label In).
	Wait string `json:"wait"`
	N    int    `json:"n"`

	// Deliver sends the event of a message that was written Before, which Slack
	// may do minutes late.
	Deliver string `json:"deliver"`

	// Release lets the answer to a held request go, by its number.
	Release int `json:"release"`
}

// answer is one line of a story's "model" section: what the model says to the
// next request.
type answer struct {
	Text string `json:"text"`
	Call string `json:"call"` // a tool
	// Held: only once a step releases it.
	Held   bool `json:"held"`
	Status int  `json:"status"` // an HTTP error instead
}

func (a answer) step(n int) scripted.Step {
	s := scripted.Answer(a.Text)
	if a.Call != "" {
		s = scripted.Call(fmt.Sprintf("call_%d", n), a.Call, "{}")
		s.Text = a.Text
	}
	if a.Status != 0 {
		s = scripted.Status(a.Status, "")
	}
	return s
}

// readStories reads every story of a folder and casts it.
func readStories(t *testing.T, pattern string) []*story {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories at %s: %v", pattern, err)
	}
	var stories []*story
	for i, file := range files {
		s, err := readStory(file)
		if err != nil {
			t.Fatal(err)
		}
		s.cast = castOf(i + 1)
		stories = append(stories, s)
	}
	return stories
}

func readStory(file string) (*story, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	s := &story{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive, play: &play{}}
	for _, section := range archive.Files {
		switch section.Name {
		case "settings":
			s.settings = strings.Fields(string(section.Data))
			slices.Sort(s.settings)
		case "slack":
			err = eachLine(section.Data, func(decode func(any) error) error {
				var one step
				err := decode(&one)
				s.steps = append(s.steps, one)
				return err
			})
		case "model":
			err = eachLine(section.Data, func(decode func(any) error) error {
				var one answer
				err := decode(&one)
				s.play.answers = append(s.play.answers, one)
				return err
			})
		case "expect":
			s.expect = string(section.Data)
		default:
			err = fmt.Errorf("unknown section %q", section.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return s, nil
}

// eachLine reads JSON lines; empty ones and those that begin with # say nothing.
func eachLine(data []byte, do func(decode func(any) error) error) error {
	for n, text := range bytes.Split(data, []byte("\n")) {
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] == '#' {
			continue
		}
		err := do(func(v any) error {
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			return d.Decode(v)
		})
		if err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return nil
}

// group is the settings of a story as one key.
func (s *story) group() string { return strings.Join(s.settings, " ") }

// rewrite puts what came of the story into its file.
func (s *story) rewrite(got string) error {
	for i := range s.archive.Files {
		if s.archive.Files[i].Name == "expect" {
			s.archive.Files[i].Data = []byte(got)
			return os.WriteFile(s.file, txtar.Format(s.archive), 0o644)
		}
	}
	s.archive.Files = append(s.archive.Files, txtar.File{Name: "expect", Data: []byte(got)})
	return os.WriteFile(s.file, txtar.Format(s.archive), 0o644)
}

// play is the model's part of a story, and what it was sent.
type play struct {
	mu       sync.Mutex
	answers  []answer
	requests []scripted.Request
	releases map[int]func()
}

// next records a request and answers with the script's next line. A request
// without one is refused for good, which nobody can overlook.
func (p *play) next(r scripted.Request) scripted.Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	n := len(p.requests)
	if n > len(p.answers) {
		return scripted.Status(400, "")
	}
	s := p.answers[n-1].step(n)
	if p.answers[n-1].Held {
		if p.releases == nil {
			p.releases = map[int]func(){}
		}
		s, p.releases[n] = s.Held()
	}
	return s
}

func (p *play) asked() []scripted.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// release lets a held answer go. It reports whether there is such a one.
func (p *play) release(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	let, ok := p.releases[n]
	if ok {
		let()
	}
	return ok
}

// releaseAll is for the end.
func (p *play) releaseAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, let := range p.releases {
		let()
	}
}
