package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// controlEvents streams the log as server-sent events, each with its number as
// id: from ?since or Last-Event-ID on, else from now.
func (s *Server) controlEvents(w http.ResponseWriter, r *http.Request) {
	seq := s.Mark()
	for _, from := range []string{r.URL.Query().Get("since"), r.Header.Get("Last-Event-ID")} {
		if n, err := strconv.ParseInt(from, 10, 64); err == nil {
			seq = n
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	alive := time.NewTicker(15 * time.Second)
	defer alive.Stop()
	for {
		events, changed := s.eventsAfter(seq)
		for _, e := range events {
			raw, err := json.Marshal(e)
			if err != nil {
				s.o.Log.Error("simulator event is no JSON", "kind", e.Kind, "err", err)
				continue
			}
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, raw)
			seq = e.Seq
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-alive.C:
			fmt.Fprint(w, ": alive\n\n")
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}

// State is what a page shows, at one moment of the log.
type State struct {
	Seq      int64          `json:"seq"`
	Bot      App            `json:"bot"`
	People   []Person       `json:"people"`
	Channels []ChannelState `json:"channels"`
	Sessions []Session      `json:"sessions"`
	// Ephemerals by the person who sees them.
	Ephemerals map[string][]Ephemeral `json:"ephemerals"`
	Sockets    int                    `json:"sockets"`
	Unacked    int                    `json:"unacknowledged"`
}

// Person is an account as a page shows it.
type Person struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Handle  string `json:"handle"`
	Team    string `json:"team_id"`
	Bot     bool   `json:"is_bot"`
	Guest   bool   `json:"is_guest"`
	Foreign bool   `json:"is_foreign"`
}

// ChannelState is a channel and all that was said in it, oldest first.
type ChannelState struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Kind     ChannelKind `json:"kind"`
	Shared   bool        `json:"is_ext_shared"`
	Members  []string    `json:"members"`
	Messages []*Message  `json:"messages"`
}

// State is a snapshot. The log's events after its Seq are what changed since.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := State{
		Seq: s.log.seq, Bot: s.world.Bot, Sockets: len(s.sockets), Unacked: len(s.unsettled),
		Ephemerals: map[string][]Ephemeral{}, Sessions: []Session{},
	}
	for _, u := range s.world.sortedUsers() {
		name := u.DisplayName
		if name == "" {
			name = u.RealName
		}
		out.People = append(out.People, Person{
			ID: u.ID, Name: name, Handle: u.Name, Team: u.TeamID, Bot: u.Bot,
			Guest: u.Restricted || u.UltraRestricted, Foreign: u.TeamID != s.world.Bot.TeamID,
		})
	}
	for _, c := range s.world.sortedChannels() {
		one := ChannelState{
			ID: c.ID, Name: c.Name, Kind: c.Kind, Shared: c.Shared, Members: append([]string{}, c.Members...), Messages: []*Message{},
		}
		for _, m := range c.messages {
			one.Messages = append(one.Messages, m.clone())
		}
		out.Channels = append(out.Channels, one)
	}
	for _, e := range s.ephemerals {
		out.Ephemerals[e.User] = append(out.Ephemerals[e.User], e)
	}
	for _, one := range s.sessions {
		out.Sessions = append(out.Sessions, one)
	}
	return out
}

func (s *Server) controlState(w http.ResponseWriter, _ *http.Request) {
	controlAnswer(w, s.State(), nil)
}
