package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// sectionTime is what a section has to be rendered.
	sectionTime = 5 * time.Second
	// sectionTokens is its budget where it names none.
	sectionTokens = 500
	// sectionsHung is how many renderings of one section may hang, given up on,
	// before it is left out until some of them return.
	sectionsHung  = 8
	bytesPerToken = 3
)

// section is a section of a plugin that is on.
type section struct {
	plugins.Section
	plugin string
	shared bool // one store for all people
	hung   *atomic.Int32
}

// addSections are a plugin's, once it is opened.
func (x *extensions) addSections(o opened) {
	for _, s := range o.Sections {
		x.sections = append(x.sections, section{s, o.name, o.SharedStore, new(atomic.Int32)})
	}
}

// render asks every section at once for what it adds to a turn. One that fails,
// panics or is late is left out.
func (x *extensions) render(ctx context.Context, run plugins.Run) []chat.Entry {
	notes := make([][]plugins.Note, len(x.sections))
	var rendering sync.WaitGroup
	for i, s := range x.sections {
		rendering.Go(func() {
			var err error
			if notes[i], err = x.ask(ctx, s, run); err != nil {
				x.log.Warn("section left out", "turn", run.Turn, "plugin", s.plugin, "section", s.Name, "err", err)
			}
		})
	}
	rendering.Wait()
	var entries []chat.Entry
	for i, s := range x.sections {
		entries = append(entries, s.entries(run.Turn, notes[i])...)
	}
	return entries
}

// ask renders one section within its time.
func (x *extensions) ask(ctx context.Context, s section, run plugins.Run) ([]plugins.Note, error) {
	if n := s.hung.Load(); n >= sectionsHung {
		return nil, fmt.Errorf("%d renderings of it have not come back", n)
	}
	ctx, cancel := context.WithTimeout(ctx, sectionTime)
	defer cancel()
	call := plugins.Call{Run: run.Copy(), Key: plugins.CallKey(run.Turn, s.plugin+"."+s.Name)}
	if owner := run.Actor; x.store != nil {
		if s.shared {
			owner = chat.Actor{}
		}
		call.Store = x.store(s.plugin, owner)
	}
	type outcome struct {
		notes []plugins.Note
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: errors.New("a fault in its code")}
		defer func() {
			if fault := recover(); fault != nil {
				x.log.Error("section panicked", "turn", run.Turn, "plugin", s.plugin, "section", s.Name,
					"type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			}
			done <- out
		}()
		notes, err := s.Render(ctx, call)
		out = outcome{notes, err}
	}()
	select {
	case out := <-done:
		if out.err != nil {
			return nil, out.err
		}
		return out.notes, nil
	case <-ctx.Done():
		s.hung.Add(1)
		go func() {
			<-done
			s.hung.Add(-1)
		}()
		return nil, ctx.Err()
	}
}

// entries are a section's notes as they stand in the turn's log, as far as its
// budget goes. Whatever they say, they are context.
func (s section) entries(turn chat.TurnID, notes []plugins.Note) []chat.Entry {
	room := s.Tokens * bytesPerToken
	if room == 0 {
		room = sectionTokens * bytesPerToken
	}
	name := s.plugin + "." + s.Name
	var entries []chat.Entry
	for i, note := range notes {
		text := strings.TrimSpace(strings.ToValidUTF8(note.Text, "\uFFFD"))
		if text == "" {
			continue
		}
		if room < 64 { // a piece that small says nothing
			break
		}
		e := chat.Entry{
			ID: fmt.Sprintf("%s.%s.%d", turn, name, i), Turn: turn, Role: chat.UserRole, Origin: chat.Section, Tool: name,
			Text: plugins.CutMiddle(text, room), Provenance: &chat.Provenance{Authority: chat.Context},
			Private: note.Private, Time: writable(note.Time),
		}
		if note.Author.IsWhole() {
			e.Provenance.Author = &note.Author
		}
		room -= len(e.Text)
		entries = append(entries, e)
	}
	return entries
}

// writable is a time as the log can keep it: JSON knows years of four digits.
func writable(t time.Time) time.Time {
	if t = t.UTC().Round(0); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
