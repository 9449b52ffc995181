package main

import "reeve/plugins"

// compiled are the plugins of this distribution. Another one is another main
// with its own list.
func compiled() []plugins.Plugin {
	return []plugins.Plugin{}
}
