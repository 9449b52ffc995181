package schedule_test

import (
	"testing"

	"reeve/plugins"
	"reeve/plugins/plugintest"
	"reeve/plugins/schedule"
)

func TestSuite(t *testing.T) {
	plugintest.Suite(t, schedule.New,
		plugintest.Example("schedule_create", `{"text":"water the plants","at":"in 2 hours","every":"2 hours"}`),
		plugintest.Example("schedule_list", `{}`),
	)
}

var _ plugins.Plugin = schedule.New()
