package simulator

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with the next calls of a method.
type Fault struct {
	// Method is a Web API method, or "*" for any.
	Method string `json:"method"`
	// Times is how many calls it meets; 1 when zero, for ever when negative.
	Times int `json:"times"`

	// Status other than 200, such as 429 or 500: nothing is carried out.
	Status int `json:"status"`
	// RetryAfter in seconds goes with 429; 1 when zero.
	RetryAfter int `json:"retry_after"`
	// Error is the code of an ok:false answer; nothing is carried out.
	Error string `json:"error"`

	// Delay before the answer. The call is carried out at once.
	Delay time.Duration `json:"-"`
	// DelayMS is Delay in milliseconds, for /sim/fault.
	DelayMS int `json:"delay_ms"`
	// LoseAnswer: the call is carried out, and the connection cut instead of
	// an answer.
	LoseAnswer bool `json:"lose_answer"`
}

// Fail adds a fault. Faults of one method are used up in the order in which
// they were added.
func (s *Server) Fail(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	if f.DelayMS > 0 {
		f.Delay = time.Duration(f.DelayMS) * time.Millisecond
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Heal takes every fault of the Web API back.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// takeFault uses up one call of the first fault that fits. The lock is held.
func (s *Server) takeFault(method string) *Fault {
	for i, f := range s.faults {
		if f.Method != method && f.Method != "*" {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
		}
		taken := *f
		return &taken
	}
	return nil
}

// instead: the call is not carried out.
func (f *Fault) instead() bool {
	return f != nil && (f.Error != "" || (f.Status != 0 && f.Status != http.StatusOK))
}

func (f *Fault) refusal(h http.Header) (status int, err error) {
	status = http.StatusOK
	if f.Status != 0 {
		status = f.Status
	}
	code := f.Error
	switch {
	case status == http.StatusTooManyRequests:
		h.Set("Retry-After", strconv.Itoa(max(f.RetryAfter, 1)))
		code = "ratelimited"
	case code == "":
		code = "internal_error"
	}
	return status, fail(code)
}

// delay waits out the fault; false means that nobody waits for the answer.
func (f *Fault) delay(ctx context.Context, done <-chan struct{}) bool {
	if f.Delay <= 0 {
		return true
	}
	t := time.NewTimer(f.Delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-done:
	}
	return false
}

type hold struct {
	open    chan struct{}
	waiting int
}

// Hold keeps the calls of a method waiting, before they are carried out, until
// release is called. Held tells how many wait.
func (s *Server) Hold(method string) (release func()) {
	h := &hold{open: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[method] = h
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holds[method] == h {
			delete(s.holds, method)
			close(h.open)
		}
	}
}

// WaitHeld returns once n calls of a method wait at its Hold.
func (s *Server) WaitHeld(ctx context.Context, method string, n int) error {
	return s.WaitUntil(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		h := s.holds[method]
		return h != nil && h.waiting >= n
	})
}

// passHold returns false when the caller or the server went away meanwhile.
func (s *Server) passHold(r *http.Request, method string) bool {
	s.mu.Lock()
	h := s.holds[method]
	if h == nil {
		s.mu.Unlock()
		return true
	}
	h.waiting++
	s.record(Event{Kind: Held, Reason: method})
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		h.waiting--
		s.mu.Unlock()
	}()
	select {
	case <-h.open:
		return true
	case <-r.Context().Done():
	case <-s.done:
	}
	return false
}
