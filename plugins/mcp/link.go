package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// version is how a connection begins. Servers of the older kind may not answer
// to the newer one's first word at all, so that a connection begins as the
// older one does; what fails is tried the other way the next time.
type version string

const (
	older version = "2025-11-25"
	newer version = "2026-07-28"
)

func (v version) other() version {
	if v == older {
		return newer
	}
	return older
}

// A server at an address may vanish without a word: it is asked every minute,
// and given up after three that it did not answer.
const (
	keepAlive         = time.Minute
	keepAliveFailures = 3
)

// What one server may list at most.
const (
	maxPages = 50
	maxTools = 200
)

// link is one connection.
type link struct {
	session *sdk.ClientSession
	process *process // nil: it is at an address
	free    func()   // lets go of what the connection holds
	grace   time.Duration
	calls   sync.WaitGroup
	ended   chan struct{}
}

// connect begins a connection. A process that does not speak is ended when ctx
// does.
func (s *server) connect(ctx context.Context, v version) (*link, error) {
	options := s.hub.options
	l := &link{grace: options.Grace, ended: make(chan struct{}), free: func() {}}
	dropped := func(why string) { s.log.Debug("left out " + why) }
	clientOptions := &sdk.ClientOptions{
		// It may ask for nothing: no folders, no questions to people, no model.
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { wake(s.relist) },
		Logger:                 slog.New(slog.DiscardHandler),
	}
	var transport sdk.Transport
	if s.config.Command != "" {
		process, err := startProcess(s.config, options.Environ, s.mask, s.log)
		if err != nil {
			return nil, err
		}
		l.process = process
		defer context.AfterFunc(ctx, func() { process.stop(options.Grace) })()
		transport = process.transport(options.MaxMessage, dropped)
	} else {
		clientOptions.KeepAlive, clientOptions.KeepAliveFailureThreshold = keepAlive, keepAliveFailures
		transport, l.free = httpTransport(s.config, options.MaxMessage, dropped, func() { wake(s.broken) })
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "reeve", Version: "1"}, clientOptions)
	var err error
	if l.session, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: string(v)}); err != nil {
		err = fmt.Errorf("connect: %w%s", s.unanswered(ctx, err), l.lastWords())
		l.close()
		return nil, err
	}
	go func() {
		_ = l.session.Wait()
		close(l.ended)
	}()
	return l, nil
}

// unanswered says in plain words that the time was over.
func (s *server) unanswered(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it did not answer within %g s", s.hub.options.ConnectTimeout.Seconds())
	}
	return err
}

// lastWords are what a process said last, for the operator.
func (l *link) lastWords() string {
	if l.process == nil {
		return ""
	}
	if words := l.process.said.text(); words != "" {
		return "; it said: " + words
	}
	return ""
}

// close ends the connection and the process. Nothing of it is left afterwards.
func (l *link) close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if l.session != nil {
			_ = l.session.Close()
		}
	}()
	select {
	case <-closed:
	case <-time.After(l.grace):
	}
	if l.process != nil {
		l.process.stop(l.grace)
	}
	l.free()
	<-closed
}

// list is all tools, over as many pages as there are.
func (l *link) list(ctx context.Context) ([]*sdk.Tool, error) {
	var tools []*sdk.Tool
	cursor := ""
	for range maxPages {
		page, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if page.NextCursor == "" {
			return tools, nil
		}
		cursor = page.NextCursor
	}
	return nil, errors.New("the list has no end")
}
