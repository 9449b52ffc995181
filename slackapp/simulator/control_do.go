package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

var errNothing = errors.New("nothing to do that to")

type done struct {
	OK bool   `json:"ok"`
	TS string `json:"ts,omitempty"`
	ID string `json:"envelope_id,omitempty"`
}

func (s *Server) controlSay(w http.ResponseWriter, r *http.Request) {
	var in struct {
		User    string `json:"user"`
		Channel string `json:"channel"`
		Text    string `json:"text"`
		// Typed: text is what a person types, not Slack's wire form.
		Typed  bool   `json:"typed"`
		Thread string `json:"thread_ts"`
		Twin   Twin   `json:"twin"`
		Files  []struct {
			Name string `json:"name"`
			Text string `json:"text"`
		} `json:"files"`
	}
	if !readControl(w, r, &in) {
		return
	}
	if in.Typed {
		in.Text = s.Typed(in.Text)
	}
	o := SayOptions{Thread: in.Thread, Twin: in.Twin}
	for _, f := range in.Files {
		o.Files = append(o.Files, NewFile{Name: f.Name, Content: []byte(f.Text)})
	}
	ts, err := s.TrySay(in.User, in.Channel, in.Text, o)
	controlAnswer(w, done{OK: true, TS: ts}, err)
}

// target is what most controls name.
type target struct {
	User    string `json:"user"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Text    string `json:"text"`
	Typed   bool   `json:"typed"`
	Name    string `json:"name"`
	Remove  bool   `json:"remove"`
	Action  string `json:"action_id"`
	Thread  string `json:"thread_ts"`
	Tab     string `json:"tab"`
	// Ticked are the values of the boxes that are ticked; Home: the element
	// stands in the home tab.
	Ticked []string `json:"ticked"`
	Home   bool     `json:"home"`
	View   string   `json:"view_id"`
	// Values are what a person wrote into a window, by block and action id.
	Values map[string]map[string]string `json:"values"`
}

func happened(w http.ResponseWriter, ok bool) {
	var err error
	if !ok {
		err = errNothing
	}
	controlAnswer(w, done{OK: true}, err)
}

func (s *Server) controlEdit(w http.ResponseWriter, r *http.Request) {
	var in target
	if !readControl(w, r, &in) {
		return
	}
	if in.Typed {
		in.Text = s.Typed(in.Text)
	}
	happened(w, s.Edit(in.User, in.Channel, in.TS, in.Text))
}

func (s *Server) controlDelete(w http.ResponseWriter, r *http.Request) {
	var in target
	if readControl(w, r, &in) {
		happened(w, s.Delete(in.Channel, in.TS))
	}
}

func (s *Server) controlReact(w http.ResponseWriter, r *http.Request) {
	var in target
	if !readControl(w, r, &in) {
		return
	}
	if in.Remove {
		happened(w, s.Unreact(in.User, in.Channel, in.TS, in.Name))
		return
	}
	happened(w, s.React(in.User, in.Channel, in.TS, in.Name))
}

func (s *Server) controlClick(w http.ResponseWriter, r *http.Request) {
	var in target
	if !readControl(w, r, &in) {
		return
	}
	var id string
	var err error
	if in.Home {
		id, err = s.ClickHome(in.User, in.Action)
	} else {
		id, err = s.Click(in.User, in.Channel, in.TS, in.Action, in.Ticked...)
	}
	controlAnswer(w, done{OK: true, ID: id}, err)
}

// controlSubmit answers what the app said: {"response_action": "errors", ...}.
func (s *Server) controlSubmit(w http.ResponseWriter, r *http.Request) {
	var in target
	if !readControl(w, r, &in) {
		return
	}
	values := map[string]map[string]any{}
	for block, fields := range in.Values {
		values[block] = map[string]any{}
		for action, text := range fields {
			values[block][action] = map[string]any{"type": "plain_text_input", "value": text}
		}
	}
	e, err := s.SubmitView(r.Context(), in.User, in.View, values)
	answer := e.Response
	if len(answer) == 0 {
		answer = json.RawMessage("{}")
	}
	controlAnswer(w, answer, err)
}

func (s *Server) controlClose(w http.ResponseWriter, r *http.Request) {
	var in target
	if readControl(w, r, &in) {
		controlAnswer(w, done{OK: true}, s.CloseView(in.User, in.View))
	}
}

func (s *Server) controlStop(w http.ResponseWriter, r *http.Request) {
	var in target
	if readControl(w, r, &in) {
		happened(w, s.StopSession(in.User, in.Channel, in.Thread))
	}
}

func (s *Server) controlHome(w http.ResponseWriter, r *http.Request) {
	var in target
	if readControl(w, r, &in) {
		s.OpenHome(in.User, in.Tab)
		happened(w, true)
	}
}

// controlFault takes a Fault of the Web API, or with "socket" one of Socket
// Mode.
func (s *Server) controlFault(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Fault
		Socket string `json:"socket"`
		Reason string `json:"reason"`
	}
	if !readControl(w, r, &in) {
		return
	}
	n := in.Times
	if n == 0 {
		n = 1
	}
	switch in.Socket {
	case "":
		if in.Method == "" {
			controlAnswer(w, nil, errors.New("method or socket is needed"))
			return
		}
		s.Fail(in.Fault)
	case "drop":
		s.DropSockets()
	case "close":
		s.CloseSockets()
	case "half_open":
		s.HalfOpen()
	case "disconnect":
		s.Disconnect(in.Reason)
	case "enable":
		s.EnableLink()
	case "stop_pings":
		s.StopPings(true)
	case "resume_pings":
		s.StopPings(false)
	case "refuse":
		s.RefuseSockets(n)
	case "accept":
		s.RefuseSockets(0)
	case "too_many":
		s.TooManySockets(n)
	case "ignore_acks":
		s.IgnoreAcks(n)
	case "duplicate":
		s.DuplicateNext(n)
	default:
		controlAnswer(w, nil, fmt.Errorf("unknown socket fault %q", in.Socket))
		return
	}
	happened(w, true)
}
