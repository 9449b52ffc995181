package plugintest

import (
	"context"
	"slices"

	"reeve/plugins"
)

// Due says what becomes of what the plugin starts, in place of the host, which
// begins everything once: an error is the plugin's answer, and nothing begins.
func Due(ask func(plugins.Due) error) Option { return func(o *options) { o.due = ask } }

func (h *Host) start(ctx context.Context, due plugins.Due) (started bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if h.options.due != nil {
		if err := h.options.due(due); err != nil {
			return false, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.begun, func(d plugins.Due) bool { return d.Key == due.Key && d.At.Equal(due.At) }) {
		return false, nil
	}
	h.begun = append(h.begun, due)
	return true, nil
}

// Started is what the plugin has started, in that order.
func (h *Host) Started() []plugins.Due {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.begun)
}
