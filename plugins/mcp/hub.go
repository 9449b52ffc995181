package mcp

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"reeve/plugins"
)

// hub has the servers of one process.
type hub struct {
	options  Options
	path     string
	config   []serverConfig // as it was read at start
	services plugins.Services
	seen     seen
	needing  sync.Mutex // while what a server wants of an account is written down

	mu      sync.Mutex
	servers map[string]*server // by id
}

// run keeps a connection to each server until ctx ends. Calls that are under
// way then are waited for: whoever made them bounds them.
func (h *hub) run(ctx context.Context) error {
	wishes, stop := h.options.reloads()
	defer stop()
	var working sync.WaitGroup
	defer working.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.mu.Lock()
	h.servers = map[string]*server{}
	h.mu.Unlock()
	h.apply(ctx, h.config, &working)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wishes:
			h.reload(ctx, &working)
		}
	}
}

// reload reads the file again. One that is wrong changes nothing.
func (h *hub) reload(ctx context.Context, working *sync.WaitGroup) {
	log := logger(h.services)
	list, err := readConfig(h.path, h.services.Settings)
	if err != nil {
		log.Error("the file of MCP servers is wrong, the servers stay as they were", "err", err)
		return
	}
	log.Info("the file of MCP servers was read again", "servers", len(list))
	h.seen.forget()
	h.apply(ctx, list, working)
}

// apply ends the servers that are gone or different, starts those that are new
// or different, and has the others list their tools again.
func (h *hub) apply(ctx context.Context, list []serverConfig, working *sync.WaitGroup) {
	h.mu.Lock()
	next := map[string]*server{}
	for _, c := range list {
		old := h.servers[c.id]
		if old != nil && reflect.DeepEqual(old.config, c) {
			next[c.id] = old
			old.again()
			continue
		}
		s := newServer(c, h)
		next[c.id] = s
		serving, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		working.Go(func() { s.run(serving) })
	}
	for id, old := range h.servers {
		if next[id] != old {
			old.cancel()
			h.withdraw(old)
		}
	}
	h.servers = next
	h.mu.Unlock()
	h.offer()
}

// offer hands over the tools of all servers. While a server is not connected,
// those that it had stay: a turn's tools do not come and go.
func (h *hub) offer() {
	h.mu.Lock()
	defer h.mu.Unlock()
	var tools []plugins.Tool
	for _, s := range h.servers {
		tools = append(tools, s.tools()...)
	}
	slices.SortFunc(tools, func(a, b plugins.Tool) int { return strings.Compare(a.Name, b.Name) })
	if h.services.Offer == nil {
		return
	}
	if err := h.services.Offer(tools); err != nil {
		logger(h.services).Error("the tools of MCP servers were not taken", "err", err)
	}
}
