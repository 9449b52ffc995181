package page_test

import (
	"testing"

	"reeve/slackapp/simulator/page/pagetest"
)

func TestMain(m *testing.M) { pagetest.Main(m) }
