package gate

import (
	"context"

	"reeve/plugins"
)

// Weigh says what a call needs before it may be made.
func (g *Gate) Weigh(ctx context.Context, asked plugins.Asked) plugins.Weighed {
	return plugins.Weighed{}
}
