package memory

import (
	"testing"

	"reeve/plugins"
	"reeve/plugins/plugintest"
	"reeve/runtime/mailbox/redistest"
)

func TestSuite(t *testing.T) {
	plugintest.Suite(t, func() plugins.Plugin {
		space := redistest.Shared(t)
		plugin := New()
		plugin.Use(Options{Store: NewStore(space.Client(), space.Prefix(), true), Model: &model{}, Extraction: true})
		return plugin
	}, plugintest.At(noon), plugintest.Calls(60))
}
