package slack_test

import (
	"testing"

	"reeve/plugins/plugintest"
	"reeve/plugins/slack"
)

func TestSuite(t *testing.T) { plugintest.Suite(t, slack.New) }
