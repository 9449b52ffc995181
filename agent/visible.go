package agent

import (
	"slices"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Visible are the entries before the turn's own that its actor may see now. In
// a conflict the private entries of earlier turns are not among them, nor what
// was recalled for him alone.
func (t Turn) Visible() []chat.Entry {
	if len(chat.Contributors(t.Own, t.Actor)) == 0 {
		return t.Before
	}
	return slices.DeleteFunc(slices.Clone(t.Before), func(e chat.Entry) bool { return e.Private })
}

// Run is the turn as plugins see it at this moment: the same entries that the
// prompt is made of.
func (t Turn) Run() plugins.Run {
	r := plugins.Run{
		Turn: t.ID, Conversation: t.Conversation, Visibility: t.Visibility, Actor: t.Actor, Zone: t.Zone,
		Actors: chat.Actors(t.Own), Contributors: chat.Contributors(t.Own, t.Actor),
	}
	for _, e := range append(slices.Clone(t.Visible()), t.Own...) {
		r.Transcript = append(r.Transcript, plugins.EntryOf(e, t.Actor))
	}
	return r
}
