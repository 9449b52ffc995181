package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is an OpenAI-compatible provider on loopback that answers as it is
// told. A request without a step is refused for good, so that a test in which
// more is asked than it expects fails at once.
type Server struct {
	listener net.Listener
	server   *http.Server
	closed   chan struct{}
	once     sync.Once

	mu        sync.Mutex
	steps     []Step
	otherwise func(Request) Step
	requests  []Request
	form      func(Request) string
	forms     []Request
	arrived   chan struct{} // closed and renewed when a request arrives
}

// NewServer listens on a free port of loopback until Close.
func NewServer() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start scripted model: %w", err)
	}
	s := &Server{listener: listener, closed: make(chan struct{}), arrived: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model"}]}`)
	})
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// URL is the base URL for a client.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close ends the server and every answer that is held, hanging or dripping.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		_ = s.server.Close()
	})
}

// Then appends steps: each answers one request, in order.
func (s *Server) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Otherwise answers requests for which there is no step.
func (s *Server) Otherwise(answer func(Request) Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.otherwise = answer
}

// Form answers requests for an answer of a form: what is asked beside and after
// turns, and takes no step. Nil, as at first: as if there were nothing to say.
func (s *Server) Form(answer func(Request) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.form = answer
}

// Forms are the requests for an answer of a form so far, in order. They are not
// among Requests.
func (s *Server) Forms() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.forms...)
}

// filled answers a request for an answer of a form.
func (s *Server) filled(request Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forms = append(s.forms, request)
	if s.form == nil {
		return Answer(`{"memories":[]}`)
	}
	return Answer(s.form(request))
}

// Requests are what was asked so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Left is how many steps wait for a request.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

// WaitRequest waits for the n-th request, counted from 1, as it arrives: its
// answer may still be held.
func (s *Server) WaitRequest(ctx context.Context, n int) (Request, error) {
	for {
		s.mu.Lock()
		arrived := s.arrived
		if len(s.requests) >= n {
			request := s.requests[n-1]
			s.mu.Unlock()
			return request, nil
		}
		seen := len(s.requests)
		s.mu.Unlock()
		select {
		case <-arrived:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for model request %d, %d came: %w", n, seen, ctx.Err())
		case <-s.closed:
			return Request{}, errors.New("wait for model request: the server is closed")
		}
	}
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	var request Request
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, `{"error":{"message":"the request is no JSON","type":"invalid_request_error"}}`, http.StatusBadRequest)
		return
	}
	request.Raw, request.Authorization = body, r.Header.Get("Authorization")
	if request.Format != nil {
		s.answer(w, r, request, s.filled(request))
		return
	}
	step := s.next(request)
	if step.hold != nil {
		select {
		case <-step.hold:
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
	if step.Await != nil {
		known, ok := step.Await(r.Context())
		if !ok {
			return
		}
		step = known
	}
	s.answer(w, r, request, step)
}

// next records a request and finds its step.
func (s *Server) next(request Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	close(s.arrived)
	s.arrived = make(chan struct{})
	for i, step := range s.steps {
		if step.When == nil || step.When(request) {
			s.steps = append(s.steps[:i:i], s.steps[i+1:]...)
			return step
		}
	}
	if s.otherwise != nil {
		return s.otherwise(request)
	}
	return Step{Status: http.StatusBadRequest, Body: `{"error":{"message":"nothing is scripted for this request","type":"invalid_request_error"}}`}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, request Request, step Step) {
	if step.Fault == HangFault {
		s.hang(r)
		return
	}
	if step.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		if step.RetryAfter != "" {
			w.Header().Set("Retry-After", step.RetryAfter)
		}
		w.WriteHeader(step.Status)
		_, _ = io.WriteString(w, step.Body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := events{w: w, model: request.Model}
	switch step.Fault {
	case GarbageFault:
		out.raw("data: {\"choices\": [this is no JSON\n\n")
	case DripFault:
		s.drip(r, out, step.Every)
	case SilentFault, CutFault, UnfinishedFault:
		out.delta(map[string]any{"role": "assistant", "content": step.Text}, "")
		switch step.Fault {
		case SilentFault:
			s.hang(r)
		case CutFault:
			panic(http.ErrAbortHandler)
		}
	default:
		out.whole(step, request.StreamOptions != nil && request.StreamOptions.IncludeUsage)
	}
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

func (s *Server) drip(r *http.Request, out events, every time.Duration) {
	if every == 0 {
		every = 10 * time.Millisecond
	}
	out.raw(`data: {"choices":[{"index":0,"delta":{"content":"`)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			out.raw("a")
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}
