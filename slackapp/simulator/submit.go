package simulator

import (
	"context"
	"encoding/json"
	"fmt"
)

// SubmitView is a person submitting a modal. Values are the view's
// state.values by block and action id. It returns the acknowledged envelope,
// whose Response is the app's response_action: it closes the modal, shows
// another in its place, or keeps it with errors below its fields.
func (s *Server) SubmitView(ctx context.Context, user, viewID string, values map[string]map[string]any) (Envelope, error) {
	s.mu.Lock()
	v, ok := s.views[viewID]
	if !ok || v.User != user {
		s.mu.Unlock()
		return Envelope{}, fmt.Errorf("submit view %s as %s: no such view", viewID, user)
	}
	payload := s.interaction("view_submission", user)
	view := s.viewObject(v)
	view["state"] = map[string]any{"values": values}
	payload["view"], payload["trigger_id"], payload["response_urls"] = view, s.newTrigger(user), []any{}
	s.mu.Unlock()
	raw, err := json.Marshal(payload)
	if err != nil {
		return Envelope{}, fmt.Errorf("submit view %s: %w", viewID, err)
	}
	e, err := s.deliver(ctx, &Envelope{ID: uuid(), Type: "interactive", Payload: raw, AcceptsResponse: true})
	if err != nil {
		return e, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return e, s.answered(v, e.Response)
}

// response is what an app says to a view_submission.
type response struct {
	Action string            `json:"response_action"`
	Errors map[string]string `json:"errors,omitempty"`
	View   json.RawMessage   `json:"view,omitempty"`
}

// answered does what the app's response says with the view. The lock is held.
func (s *Server) answered(v View, raw json.RawMessage) error {
	var r response
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("view %s: response: %w", v.ID, err)
		}
	}
	switch r.Action {
	case "", "clear":
		s.closeView(v)
	case "errors":
		s.record(Event{Kind: ViewRefused, View: &v, Data: raw})
	case "update", "push":
		view, err := readView(string(r.View))
		if err != nil {
			return fmt.Errorf("view %s: response: %w", v.ID, err)
		}
		v.View = view
		s.showView(v.ID, v)
	default:
		return fmt.Errorf("view %s: response_action %q is unknown", v.ID, r.Action)
	}
	return nil
}

func (s *Server) closeView(v View) {
	delete(s.views, v.ID)
	s.record(Event{Kind: ViewClosed, View: &v})
}

// CloseView is a person closing a modal without submitting it.
func (s *Server) CloseView(user, viewID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.views[viewID]
	if !ok || v.User != user {
		return fmt.Errorf("close view %s as %s: no such view", viewID, user)
	}
	s.closeView(v)
	return nil
}
