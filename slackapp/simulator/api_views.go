package simulator

import (
	"encoding/json"
	"time"
)

// View is a modal that a person sees, or his home tab.
type View struct {
	ID   string          `json:"id"`
	User string          `json:"user"`
	View json.RawMessage `json:"view"` // as the app gave it
	Hash string          `json:"hash"`
}

// Limits of views, and how long a trigger may be exchanged for a modal.
const (
	maxView         = 250 << 10
	maxViewBlocks   = 100
	triggerLifetime = 3 * time.Second
)

type trigger struct {
	user string
	used bool
	old  bool
}

// newTrigger is good for one modal within three seconds.
func (s *Server) newTrigger(user string) string {
	id := s.nextID("") + "." + randomHex(8)
	t := &trigger{user: user}
	s.triggers[id] = t
	s.after(triggerLifetime, func() { t.old = true })
	return id
}

func readView(raw string) (json.RawMessage, error) {
	var v struct {
		Type   string            `json:"type"`
		Blocks []json.RawMessage `json:"blocks"`
	}
	switch {
	case raw == "" || json.Unmarshal([]byte(raw), &v) != nil:
		return nil, fail("invalid_arguments", "[ERROR] view is no object")
	case v.Type != "modal" && v.Type != "home":
		return nil, fail("invalid_arguments", "[ERROR] view type")
	case len(raw) > maxView:
		return nil, fail("view_too_large")
	case len(v.Blocks) > maxViewBlocks:
		return nil, fail("invalid_arguments", "[ERROR] no more than 100 items allowed [json-pointer:/view/blocks]")
	}
	return json.RawMessage(raw), nil
}

// viewObject is the view as answers and payloads carry it.
func (s *Server) viewObject(v View) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal(v.View, &out)
	bot := s.world.Bot
	out["id"], out["team_id"], out["app_id"], out["bot_id"], out["hash"] = v.ID, bot.TeamID, bot.AppID, bot.BotID, v.Hash
	if _, ok := out["state"]; !ok {
		out["state"] = map[string]any{"values": map[string]any{}}
	}
	return out
}

func (s *Server) showView(key string, v View) answer {
	v.Hash = randomHex(6)
	s.views[key] = v
	s.record(Event{Kind: ViewShown, View: &v})
	return answer{"view": s.viewObject(v)}
}

func (s *Server) viewsOpen(a args) (answer, error) {
	t := s.triggers[a.get("trigger_id")]
	switch {
	case t == nil:
		return nil, fail("invalid_trigger_id")
	case t.used:
		return nil, fail("exchanged_trigger_id")
	case t.old:
		return nil, fail("expired_trigger_id")
	}
	raw, err := readView(a.get("view"))
	if err != nil {
		return nil, err
	}
	t.used = true
	id := s.nextID("V")
	return s.showView(id, View{ID: id, User: t.user, View: raw}), nil
}

func (s *Server) viewsUpdate(a args) (answer, error) {
	v, ok := s.views[a.get("view_id")]
	switch {
	case !ok:
		return nil, fail("not_found")
	case a.get("hash") != "" && a.get("hash") != v.Hash:
		return nil, fail("hash_conflict")
	}
	raw, err := readView(a.get("view"))
	if err != nil {
		return nil, err
	}
	v.View = raw
	return s.showView(v.ID, v), nil
}

func (s *Server) viewsPublish(a args) (answer, error) {
	user := a.get("user_id")
	if _, ok := s.world.Users[user]; !ok {
		return nil, fail("invalid_arguments", "[ERROR] user_id")
	}
	raw, err := readView(a.get("view"))
	if err != nil {
		return nil, err
	}
	v, ok := s.views["home "+user]
	if !ok {
		v = View{ID: s.nextID("V"), User: user}
	}
	v.View = raw
	return s.showView("home "+user, v), nil
}

// Views are the views that a person was shown, home tab included.
func (s *Server) Views(user string) []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []View
	for _, e := range s.log.events {
		if e.Kind == ViewShown && e.View.User == user {
			out = append(out, *e.View)
		}
	}
	return out
}
