// Package schedule is the plugin for reminders and recurring work: somebody asks
// for something at a time, and when it has come a turn of the system actor
// "scheduler" does it in the thread where it was asked.
//
// What is to be done is kept in the store of the person who asked, so that
// nobody else's calls can name it and that it goes when his data goes. An index
// for all people, of ids alone, tells the replicas what there is. Every replica
// looks there once a minute and sleeps until the earliest time that it knows;
// whichever comes first at a due time begins the turn. That it begins once is the
// host's promise (see plugins.Services.Start), so that nothing has to be claimed
// here: a claim would lose a reminder whose claimer dies.
package schedule

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// Provider is whose rights a person's schedule spends: his own, of whom it
	// is. Nobody has an account there.
	Provider = "schedule"
	// perPerson is how many a person may have.
	perPerson = 50
	// inAll is how many there may be: a store has room for 1,000 keys.
	inAll = 1000
	// maxText bounds what is to be done, in characters.
	maxText = 1000
	// lateAfter is from when on a time counts as late, and missedAfter from when
	// on as missed: then it is reported and nothing is done.
	lateAfter   = 2 * time.Minute
	missedAfter = time.Hour
	// lookEvery is how long a replica may not know what another one has added.
	lookEvery = time.Minute
)

// Plugin is the plugin, once it is open.
type Plugin struct {
	services plugins.Services
	log      *slog.Logger
	// creating is held while somebody's number is counted and one is added.
	creating sync.Mutex
	wake     chan struct{}
	board    board
}

// New is the plugin.
func New() plugins.Plugin { return &Plugin{} }

// Name implements plugins.Plugin.
func (*Plugin) Name() string { return "schedule" }

// Open implements plugins.Plugin.
func (*Plugin) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	p := open(services)
	return plugins.Extension{
		Tools: p.tools(),
		Home:  &plugins.Home{Title: "Your reminders", Items: p.items, Act: p.act},
		Run:   p.run,
	}, nil
}

func open(services plugins.Services) *Plugin {
	return &Plugin{services: services, log: services.Log, wake: make(chan struct{}, 1), board: board{known: map[ref]*entry{}}}
}

// index is the store of all people. Its keys are "TEAM:USER/ID".
func (p *Plugin) index() plugins.Store { return p.services.Store(chat.Actor{}) }

// Keys in a person's own store.
func jobKey(id string) string  { return "job/" + id }
func doneKey(id string) string { return "done/" + id }
