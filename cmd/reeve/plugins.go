package main

import (
	"time"

	"reeve/plugins"
	"reeve/plugins/clock"
)

// compiled are the plugins of this distribution. Another one is another main
// with its own list.
func compiled() []plugins.Plugin {
	return []plugins.Plugin{clock.New(time.Now)}
}
