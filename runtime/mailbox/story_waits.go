package mailbox

import (
	"slices"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// Waiting is one wait of a turn.
type Waiting struct {
	ID WaitID `json:"id"`
	// Kind is consent, account, untouched, or other.
	Kind  string    `json:"kind"`
	Asked time.Time `json:"asked"`
	// Ended is when it was over, How says how, and By whose word ended it, if it
	// was somebody's.
	Ended time.Time  `json:"ended,omitzero"`
	How   chat.How   `json:"how,omitempty"`
	By    chat.Actor `json:"by,omitzero"`
}

// waits are a turn's, oldest first, as its fields say.
func waits(fields map[string]string) []Waiting {
	var all []Waiting
	for name, value := range fields {
		id, ok := strings.CutPrefix(name, "wait:")
		f := strings.Split(value, " ")
		if !ok || len(f) < 2 {
			continue
		}
		w := Waiting{ID: WaitID(id), Kind: f[0], Asked: time.UnixMilli(num(f[1])).UTC()}
		if len(f) == 5 {
			w.Ended, w.How = time.UnixMilli(num(f[2])).UTC(), chat.How(f[3])
			w.By, _ = chat.ParseActor(f[4])
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b Waiting) int { return a.Asked.Compare(b.Asked) })
	return all
}
