package simulator

import (
	"context"
	"errors"
	"fmt"
)

// ErrClosed: the server was closed while somebody waited.
var ErrClosed = errors.New("simulator closed")

// WaitFor returns the first event, past or to come, that match accepts.
func (s *Server) WaitFor(ctx context.Context, match func(Event) bool) (Event, error) {
	return s.WaitAfter(ctx, 0, match)
}

// WaitAfter is WaitFor among the events with a number greater than mark.
func (s *Server) WaitAfter(ctx context.Context, mark int64, match func(Event) bool) (Event, error) {
	e, err := s.waitAfter(ctx, mark, match)
	if err != nil {
		return e, fmt.Errorf("wait for simulator event: %w", err)
	}
	return e, nil
}

// WaitUntil returns once done is true. It is asked now and after each event,
// and may call any method of the server.
func (s *Server) WaitUntil(ctx context.Context, done func() bool) error {
	for {
		_, changed := s.eventsAfter(s.Mark())
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for simulator state: %w", context.Cause(ctx))
		case <-s.done:
			return fmt.Errorf("wait for simulator state: %w", ErrClosed)
		}
	}
}

// WaitMessage is WaitFor among posted and changed messages.
func (s *Server) WaitMessage(ctx context.Context, match func(Message) bool) (Message, error) {
	e, err := s.WaitFor(ctx, func(e Event) bool {
		return (e.Kind == MessagePosted || e.Kind == MessageChanged) && match(*e.Message)
	})
	if err != nil {
		return Message{}, err
	}
	return *e.Message, nil
}

// WaitSettled returns once every envelope is acknowledged or lost and none
// waits for a socket.
func (s *Server) WaitSettled(ctx context.Context) error {
	return s.WaitUntil(ctx, func() bool { return s.Unacknowledged() == 0 })
}

// WaitConnected returns once n sockets are open.
func (s *Server) WaitConnected(ctx context.Context, n int) error {
	return s.WaitUntil(ctx, func() bool { return s.Sockets() >= n })
}

// ByBot accepts posts of the app under test in a thread of a channel; with an
// empty thread, anywhere in the channel.
func ByBot(channel, thread string) func(Message) bool {
	return func(m Message) bool {
		return m.own && m.Channel == channel && (thread == "" || m.ThreadTS == thread)
	}
}

// OfKind accepts the events of one kind.
func OfKind(k Kind) func(Event) bool { return func(e Event) bool { return e.Kind == k } }
