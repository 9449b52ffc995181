package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"reeve/plugins"
)

// server is one MCP server: the goroutine that keeps a connection to it, and
// what calls need to know.
type server struct {
	config serverConfig
	hub    *hub
	log    *slog.Logger
	mask   mask
	cancel context.CancelFunc
	// These wake the goroutine: the tools may have changed; the connection is of
	// no use any more; the operator wants it tried now.
	relist, broken, hurry chan struct{}
	told                  map[string]string // which trouble of which tool was logged
	kept                  kept              // of a server with people's accounts
	newer                 atomic.Bool       // how its sessions begin

	mu    sync.Mutex
	link  *link // nil: not connected
	built []plugins.Tool
}

func newServer(c serverConfig, h *hub) *server {
	return &server{
		config: c, hub: h, mask: c.mask(), log: logger(h.services).With("server", c.name),
		relist: make(chan struct{}, 1), broken: make(chan struct{}, 1), hurry: make(chan struct{}, 1), told: map[string]string{},
	}
}

// again is the operator's wish: the tools are listed again, over a new
// connection where there is none.
func (s *server) again() {
	wake(s.relist)
	wake(s.hurry)
}

func wake(sleeper chan struct{}) {
	select {
	case sleeper <- struct{}{}:
	default:
	}
}

func (s *server) tools() []plugins.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.built
}

// lasting is how many first pauses a connection has to last, for the next pause
// to be short again.
const lasting = 10

// run connects until ctx ends, with a pause that grows as long as no connection
// lasts.
func (s *server) run(ctx context.Context) {
	if s.config.oauth != nil {
		s.runAccounts(ctx)
		return
	}
	version, first := older, s.hub.options.Retry
	for pause := first; ; {
		begin := time.Now()
		connected, err := s.serve(ctx, version)
		if ctx.Err() != nil {
			return
		}
		if !connected {
			version = version.other()
		} else if time.Since(begin) > lasting*first {
			pause = first
		}
		wait := pause + rand.N(pause/4+1)
		s.log.Warn("the MCP server is not connected", "retry", wait.String(), "err", s.mask.err(err))
		pause = min(2*pause, 60*first)
		select {
		case <-ctx.Done():
			return
		case <-s.hurry:
		case <-time.After(wait):
		}
	}
}

// serve is one connection, from its beginning to its end.
func (s *server) serve(ctx context.Context, version version) (connected bool, err error) {
	for _, sleeper := range []chan struct{}{s.relist, s.broken, s.hurry} {
		drain(sleeper)
	}
	connecting, cancel := context.WithTimeout(ctx, s.hub.options.ConnectTimeout)
	defer cancel()
	l, err := s.connect(connecting, version)
	if err != nil {
		return false, err
	}
	defer l.close()
	defer s.set(nil)
	if err := s.list(connecting, l); err != nil {
		return false, err
	}
	cancel()
	s.log.Info("the MCP server is connected", "tools", len(s.tools()))
	return true, s.watch(ctx, l)
}

// watch waits until the connection is of no use, and lists the tools whenever
// they may have changed.
func (s *server) watch(ctx context.Context, l *link) error {
	relist := s.relist
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			s.set(nil) // no more calls
			l.calls.Wait()
			return ctx.Err()
		case <-l.ended:
			return errors.New("it ended the connection" + l.lastWords())
		case <-s.broken:
			return errors.New("the connection broke")
		case <-settled:
			relist, settled = s.relist, nil
		case <-relist:
			listing, cancel := context.WithTimeout(ctx, s.hub.options.ConnectTimeout)
			err := s.list(listing, l)
			cancel()
			if err != nil && ctx.Err() == nil {
				return err
			}
			relist, settled = nil, time.After(s.hub.options.Settle)
		}
	}
}

func drain(sleeper chan struct{}) {
	select {
	case <-sleeper:
	default:
	}
}

func (s *server) set(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = l
}

// begin is the connection for one call, which it counts until done.
func (s *server) begin() (l *link, done func(), connected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil {
		return nil, nil, false
	}
	l = s.link
	l.calls.Add(1)
	return l, l.calls.Done, true
}

// list asks for the tools, and offers what may be. Before the first list no
// call is made: a tool may have changed.
func (s *server) list(ctx context.Context, l *link) error {
	listed, err := l.list(ctx)
	if err != nil {
		return fmt.Errorf("list its tools: %w", s.unanswered(ctx, err))
	}
	built := s.build(listed)
	s.mu.Lock()
	s.link, s.built = l, built
	s.mu.Unlock()
	s.hub.offer()
	return nil
}
