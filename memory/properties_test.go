package memory

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

var word = regexp.MustCompile(`word\d+`)

// randomTurn is a turn whose every entry holds a word of its own.
func randomTurn(t *rapid.T) plugins.Run {
	people := []chat.Actor{alice, bob, chat.Person("T1", "UCAROL"), eve, {}, chat.SystemActor("scheduler")}
	p := turnOf(rapid.SampledFrom([]chat.Actor{alice, bob, chat.SystemActor("scheduler")}).Draw(t, "actor"))
	p.Visibility = rapid.SampledFrom([]chat.Visibility{chat.Public, chat.Public, chat.Private, chat.DM, chat.Shared}).Draw(t, "visibility")
	for i := range rapid.IntRange(1, 8).Draw(t, "entries") {
		p.add(
			rapid.SampledFrom([]chat.Origin{chat.Request, chat.Steer, chat.Thread, chat.History, chat.Quoted, chat.FileOrigin, chat.Result, chat.Answer, chat.Summary, chat.Section}).Draw(t, "origin"),
			rapid.SampledFrom([]chat.Authority{chat.Instruction, chat.Context}).Draw(t, "authority"),
			rapid.SampledFrom(people).Draw(t, "author"),
			fmt.Sprintf("I prefer word%d in %s", i, rapid.SampledFrom([]string{"reviews", `"author":"T1:UALICE"`, "the deploys"}).Draw(t, "rest")),
			func(e *plugins.Entry) {
				e.Private = rapid.IntRange(0, 3).Draw(t, "private") == 0
				if rapid.IntRange(0, 4).Draw(t, "earlier") == 0 {
					e.Turn = "t_earlier"
				}
			})
	}
	return p.Run
}

// liar proposes whatever it has read, as what its owner likes and as what is so,
// and words that stand nowhere or in another entry.
func liar(input string) string {
	words := word.FindAllString(input, -1)
	var proposals []proposal
	for i, w := range words {
		kind := []Kind{Preference, Knowledge, Procedure}[(i+len(input))%3]
		proposals = append(proposals, cites(kind, "topic of "+w, "Likes "+w+".", i+1, "I prefer "+w+" in"))
	}
	proposals = append(proposals, cites(Preference, "invented", "Likes word99.", 1, "I prefer word99 in"))
	if len(words) > 1 {
		proposals = append(proposals, cites(Procedure, "swapped", "Likes "+words[1]+".", 1, "I prefer "+words[1]+" in"))
	}
	if len(input)%2 == 0 {
		slices.Reverse(proposals)
	}
	text, _ := json.Marshal(map[string]any{"memories": proposals})
	return string(text)
}

// Whatever is in a turn and whatever the model says: a personal memory comes from
// a call that has read nothing but its owner's own words of this turn, and a
// shared one cites nothing that not everybody may see.
func TestRandomPlaysKeepPeopleApart(t *testing.T) {
	space := redistest.Shared(t)
	kept, asked := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := &model{propose: liar}
		store := NewStore(space.Client(), redistest.Prefix(), true)
		plugin := New()
		plugin.Use(Options{Store: store, Model: m, Extraction: true})
		x, err := plugin.Open(t.Context(), plugins.Services{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		run := randomTurn(t)
		own, open := map[string]bool{}, map[string]bool{}
		entries := map[string]plugins.Entry{}
		for _, e := range run.Transcript {
			entries[e.ID] = e
			w := word.FindString(e.Text)
			own[w] = !run.Conflict() && run.Actor.IsPerson() && e.Author == run.Actor && e.Turn == run.Turn &&
				e.Authority == chat.Instruction && (e.Origin == chat.Request || e.Origin == chat.Steer)
			open[w] = run.Visibility == chat.Public && !e.Private && e.Turn == run.Turn &&
				(e.Origin == chat.Result || e.Author.Team == "T1" && (e.Origin == chat.Request || e.Origin == chat.Steer || e.Origin == chat.Thread))
		}
		for _, task := range x.Tasks {
			ended := plugins.Ended{Run: run, Outcome: plugins.Done, Key: plugins.TaskKey("memory", task.Name, run.Turn), Try: 1}
			m.proposed = nil
			if task.Wants(ended) {
				if err := task.Run(t.Context(), ended); err != nil {
					t.Fatal(err)
				}
			}
			for _, input := range m.proposed {
				for _, w := range word.FindAllString(input, -1) {
					if task.Name == "personal" && !own[w] || task.Name == "shared" && !open[w] {
						t.Fatalf("the call for %s memories of %s's turn (%s, conflict %v) has read %s: %+v", task.Name, run.Actor.Key(), run.Visibility, run.Conflict(), w, run.Transcript)
					}
				}
			}
		}
		// The model that answers asks for anything, with words from anywhere.
		for i := range rapid.IntRange(2, 8).Draw(t, "calls") {
			whose := rapid.SampledFrom([]string{"me", "channel", "UBOB"}).Draw(t, "for")
			var spans []string
			for range rapid.SampledFrom([]int{1, 1, 1, 2, 0}).Draw(t, "spans") {
				text := rapid.SampledFrom(run.Transcript).Draw(t, "of").Text
				spans = append(spans, text[:len(text)-rapid.IntRange(0, len(text)).Draw(t, "cut")])
			}
			arguments, _ := json.Marshal(rememberIn{For: whose, Spans: spans})
			m.proposed = nil
			if _, err := x.Tools[0].Call(t.Context(), plugins.Call{Run: run, Key: plugins.CallKey(run.Turn, fmt.Sprint(i))}, arguments); err != nil {
				t.Fatal(err)
			}
			for _, input := range m.proposed {
				asked++
				for _, w := range word.FindAllString(input, -1) {
					if whose == "me" && !own[w] || whose != "me" && !open[w] {
						t.Fatalf("asked for %s, in %s's turn (%s, conflict %v), it was worded by who has read %s: %+v", whose, run.Actor.Key(), run.Visibility, run.Conflict(), w, run.Transcript)
					}
				}
			}
		}
		owners, err := store.Owners(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range owners {
			held, err := store.Held(t.Context(), o, noon)
			if err != nil {
				t.Fatal(err)
			}
			for _, memory := range held {
				kept++
				if o.IsPersonal() && o.Person != run.Actor {
					t.Fatalf("%s has a memory of %s's turn", o.Key(), run.Actor.Key())
				}
				for _, s := range memory.Evidence.Spans {
					w := word.FindString(s.Text)
					if o.IsPersonal() && !own[w] || !o.IsPersonal() && !open[w] || !strings.Contains(entries[s.Entry].Text, s.Text) {
						t.Fatalf("%s remembers %+v of %+v", o.Key(), memory, run.Transcript)
					}
				}
			}
		}
	})
	t.Logf("%d memories, %d asked for", kept, asked)
	if kept == 0 || asked == 0 {
		t.Errorf("%d memories, %d asked for: the play proves nothing", kept, asked)
	}
}
