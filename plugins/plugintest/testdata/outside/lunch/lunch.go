// Package lunch is the plugin that counts votes for today's lunch.
package lunch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"reeve/plugins"
)

// New is the plugin.
func New() plugins.Plugin { return &lunch{} }

type lunch struct{ now func() time.Time }

func (*lunch) Name() string { return "lunch" }

func (l *lunch) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	l.now = services.Now
	return plugins.Extension{
		SharedStore: true, // votes are everybody's to count
		Tools: []plugins.Tool{
			plugins.MustTool(plugins.Tool{
				Name:        "vote_lunch",
				Description: "Gives the vote of the person you act for to a place for today's lunch.",
				Effect:      plugins.Idempotent,
				Access:      plugins.Write,
			}, l.vote),
			plugins.MustTool(plugins.Tool{
				Name:        "count_lunch",
				Description: "Tells how many votes each place has for today's lunch.",
				Effect:      plugins.Pure,
				Access:      plugins.Read,
			}, l.count),
		},
		Tasks: []plugins.Task{{Name: "forget", Run: l.forget}},
	}, nil
}

type ballot struct {
	Place string `json:"place" jsonschema:"the place, in the words of the person you act for"`
}

func (l *lunch) vote(ctx context.Context, call plugins.Call, in ballot) (plugins.Result, error) {
	place := strings.TrimSpace(in.Place)
	if place == "" || len(place) > 100 {
		return plugins.Result{Error: true, Text: "A place has 1 to 100 letters."}, nil
	}
	// Somebody else's text may have talked the model into this place. A vote is
	// cast by what the person himself has typed in this turn.
	typed := slices.IndexFunc(call.Transcript, func(e plugins.Entry) bool {
		return call.Instruction(e) && strings.Contains(e.Text, place)
	})
	if typed < 0 {
		return plugins.Result{Error: true, Text: "The person you act for has not named this place."}, nil
	}
	// The day is that of his words: after a crash the call is made again, perhaps
	// after midnight, and is no vote for the next day. Whose vote it is, is the
	// actor's id: not a name, and no argument.
	key := day(call.Transcript[typed].Time) + call.Actor.Key()
	return plugins.Result{Text: "Voted."}, call.Store.Set(ctx, key, []byte(place))
}

func (l *lunch) count(ctx context.Context, call plugins.Call, _ struct{}) (plugins.Result, error) {
	keys, err := call.Store.Keys(ctx)
	if err != nil {
		return plugins.Result{}, err
	}
	votes, places := map[string]int{}, []string{}
	for _, key := range keys {
		if !strings.HasPrefix(key, l.today()) {
			continue
		}
		place, _, err := call.Store.Get(ctx, key)
		if err != nil {
			return plugins.Result{}, err
		}
		if votes[string(place)]++; votes[string(place)] == 1 {
			places = append(places, string(place))
		}
	}
	slices.SortStableFunc(places, func(a, b string) int { return votes[b] - votes[a] })
	lines := []string{fmt.Sprintf("%d places have votes.", len(places))}
	for _, place := range places {
		lines = append(lines, fmt.Sprintf("%s: %d", place, votes[place]))
	}
	return plugins.Result{Text: strings.Join(lines, "\n")}, nil
}

// forget runs after each turn that is done, and perhaps twice: a store holds
// 1,000 keys, and yesterday's votes are nobody's lunch.
func (l *lunch) forget(ctx context.Context, ended plugins.Ended) error {
	keys, err := ended.Store.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key < l.today() {
			if err := ended.Store.Delete(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *lunch) today() string { return day(l.now()) }

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) + " " }
