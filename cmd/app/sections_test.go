package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

var alice = chat.Person("T1", "UALICE")

func rendered(x *extensions, sections ...plugins.Section) []chat.Entry {
	x.addSections(opened{"weather", plugins.Extension{Sections: sections}})
	return x.render(context.Background(), plugins.Run{Turn: "t_1", Actor: alice})
}

func says(notes ...plugins.Note) func(context.Context, plugins.Call) ([]plugins.Note, error) {
	return func(context.Context, plugins.Call) ([]plugins.Note, error) { return notes, nil }
}

func TestSectionsAreContextWithinTheirBudget(t *testing.T) {
	bob := chat.Person("T1", "UBOB")
	got := rendered(&extensions{log: slog.New(slog.DiscardHandler)},
		plugins.Section{Name: "sky", Render: says(plugins.Note{Text: "blue\xff", Author: bob, Private: true}, plugins.Note{Text: " "}, plugins.Note{Text: "rain", Author: chat.Actor{Team: "T1"}})},
		plugins.Section{Name: "long", Tokens: 100, Render: says(plugins.Note{Text: strings.Repeat("x", 1000)}, plugins.Note{Text: "no room"})},
	)
	if len(got) != 3 {
		t.Fatalf("%d entries: %+v", len(got), got)
	}
	ids := map[string]bool{}
	for _, e := range got {
		ids[e.ID] = true
		if e.Origin != chat.Section || e.Authority() != chat.Context || e.Turn != "t_1" || e.Role != chat.UserRole {
			t.Errorf("not a section: %+v", e)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids: %v", ids)
	}
	if e := got[0]; e.Text != "blue\uFFFD" || e.Author() != bob || !e.Private || e.Tool != "weather.sky" {
		t.Errorf("the first is %+v", e)
	}
	if e := got[1]; e.Text != "rain" || !e.Author().IsZero() || e.Private {
		t.Errorf("the second is %+v", e)
	}
	if e := got[2]; len(e.Text) > 300 || !strings.Contains(e.Text, "bytes left out here") {
		t.Errorf("a budget of 100 tokens became %d bytes", len(e.Text))
	}
}

func TestABadSectionCostsItselfAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		x := &extensions{log: slog.New(slog.NewTextHandler(&log, nil))}
		release := make(chan struct{})
		start := time.Now()
		got := rendered(x,
			plugins.Section{Name: "panics", Render: func(context.Context, plugins.Call) ([]plugins.Note, error) { panic("what Alice said") }},
			plugins.Section{Name: "fails", Render: func(context.Context, plugins.Call) ([]plugins.Note, error) { return nil, errors.New("no network") }},
			plugins.Section{Name: "hangs", Render: func(context.Context, plugins.Call) ([]plugins.Note, error) { <-release; return nil, nil }},
			plugins.Section{Name: "good", Render: says(plugins.Note{Text: "blue"})},
		)
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
		if len(got) != 1 || got[0].Text != "blue" {
			t.Errorf("got %+v", got)
		}
		for _, name := range []string{"panics", "fails", "hangs"} {
			if !strings.Contains(log.String(), "section="+name) {
				t.Errorf("the log does not name %s:\n%s", name, log.String())
			}
		}
		if strings.Contains(log.String(), "what Alice said") {
			t.Error("the log tells what a panic said")
		}
		// One that always hangs is not waited for any more.
		for range sectionsHung {
			x.render(t.Context(), plugins.Run{Turn: "t_2", Actor: alice})
		}
		start = time.Now()
		x.render(t.Context(), plugins.Run{Turn: "t_3", Actor: alice})
		if took := time.Since(start); took != 0 {
			t.Errorf("what hangs was waited for %v", took)
		}
		close(release)
		synctest.Wait()
	})
}

func TestASectionHasThePrincipalsStore(t *testing.T) {
	for shared, want := range map[bool]chat.Actor{false: alice, true: {}} {
		var owner *chat.Actor
		x := &extensions{log: slog.New(slog.DiscardHandler), store: func(plugin string, actor chat.Actor) plugins.Store {
			owner = &actor
			return nil
		}}
		x.addSections(opened{"weather", plugins.Extension{SharedStore: shared, Sections: []plugins.Section{{Name: "sky", Render: says()}}}})
		x.render(t.Context(), plugins.Run{Turn: "t_1", Actor: alice})
		if owner == nil || *owner != want {
			t.Errorf("shared %v: the store is of %v", shared, owner)
		}
	}
}

// A time that the log could not keep would cost the turn, and not the section.
func TestATimeThatNobodyCanWriteIsNone(t *testing.T) {
	got := rendered(&extensions{log: slog.New(slog.DiscardHandler)}, plugins.Section{Name: "sky", Render: says(
		plugins.Note{Text: "far", Time: time.Unix(1<<45, 0)}, plugins.Note{Text: "long ago", Time: time.Unix(-1<<45, 0)}, plugins.Note{Text: "now", Time: time.Unix(1, 0)})})
	if len(got) != 3 || !got[0].Time.IsZero() || !got[1].Time.IsZero() || !got[2].Time.Equal(time.Unix(1, 0)) {
		t.Errorf("got %+v", got)
	}
	for _, e := range got {
		if _, err := json.Marshal(e); err != nil {
			t.Error(err)
		}
	}
}
