package simulator

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
)

// responseURL lets whoever has it answer an interaction five times within half
// an hour, whatever the channel allows.
type responseURL struct {
	user, channel, ts string
	uses              int
}

const (
	responseUses     = 5
	responseLifetime = 30 * time.Minute
)

func (s *Server) newResponseURL(user, channel, ts string) string {
	id := randomHex(12)
	s.responses[id] = &responseURL{user, channel, ts, 0}
	s.after(responseLifetime, func() { delete(s.responses, id) })
	return s.URL() + "/response/" + id
}

func (s *Server) serveResponseURL(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Text     string          `json:"text"`
		Blocks   json.RawMessage `json:"blocks"`
		Type     string          `json:"response_type"`
		Replace  bool            `json:"replace_original"`
		Delete   bool            `json:"delete_original"`
		ThreadTS string          `json:"thread_ts"`
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || json.Unmarshal(raw, &body) != nil {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.responses[r.PathValue("id")]
	if u == nil {
		http.Error(w, "expired_url", http.StatusNotFound)
		return
	}
	if u.uses++; u.uses > responseUses {
		http.Error(w, "used_url", http.StatusNotFound)
		return
	}
	c := s.world.Channels[u.channel]
	original, _ := c.find(u.ts)
	i := slices.IndexFunc(s.ephemerals, func(e Ephemeral) bool { return e.TS == u.ts && e.User == u.user })
	bot := s.world.Bot
	switch {
	case body.Delete && original != nil:
		s.remove(c, original)
	case body.Delete && i >= 0:
		s.ephemerals = slices.Delete(s.ephemerals, i, i+1)
	case body.Replace && original != nil:
		before := original.clone()
		original.Text, original.Blocks = body.Text, body.Blocks
		s.changed(c, original, before)
	case body.Replace && i >= 0:
		s.ephemerals[i].Text, s.ephemerals[i].Blocks = body.Text, body.Blocks
		e := s.ephemerals[i]
		s.record(Event{Kind: EphemeralPosted, Ephemeral: &e, Reason: "replaced"})
	case body.Type == "in_channel":
		s.post(c, &Message{
			Channel: c.ID, User: bot.UserID, BotID: bot.BotID, AppID: bot.AppID, Team: bot.TeamID, own: true,
			Text: body.Text, Blocks: body.Blocks, ThreadTS: body.ThreadTS,
		}, nil)
	default:
		s.showEphemeral(Ephemeral{Channel: c.ID, ThreadTS: body.ThreadTS, TS: s.nextTS(), User: u.user, Text: body.Text, Blocks: body.Blocks})
	}
	_, _ = io.WriteString(w, "ok")
}
