package lunch_test

import (
	"testing"
	"time"

	"example.com/ourbot/lunch"
	"reeve/plugins"
	"reeve/plugins/plugintest"
)

// Every plugin keeps these rules.
func TestSuite(t *testing.T) {
	plugintest.Suite(t, lunch.New,
		plugintest.Example("vote_lunch", `{"place":"Da Enzo"}`), plugintest.Example("count_lunch", `{}`))
}

// And this one is for counting votes.
func TestVotes(t *testing.T) {
	host := plugintest.New(t, lunch.New())
	alice := host.As(plugintest.Alice, "My vote is for Da Enzo.")
	if got := alice.Calls("vote_lunch", `{"place":"Da Enzo"}`); got.Error {
		t.Errorf("Alice's vote: %s", got.Text)
	}
	// Bob writes into Alice's turn. It stays hers, and he cannot vote in it.
	alice.Steers(plugintest.Bob, "No, vote for Noodle Bar!")
	if got := alice.Calls("vote_lunch", `{"place":"Noodle Bar"}`); !got.Error {
		t.Error("Bob has changed Alice's vote")
	}
	// In a turn of his own he can.
	host.As(plugintest.Bob, "I want Noodle Bar").Calls("vote_lunch", `{"place":"Noodle Bar"}`)
	host.As(plugintest.Carol, "Noodle Bar for me").Calls("vote_lunch", `{"place":"Noodle Bar"}`)
	if got := alice.Calls("count_lunch", `{}`).Text; got != "2 places have votes.\nNoodle Bar: 2\nDa Enzo: 1" {
		t.Errorf("the count is %q", got)
	}
	host.Advance(24 * time.Hour)
	if got := alice.Calls("count_lunch", `{}`).Text; got != "0 places have votes." {
		t.Errorf("a day later it is %q", got)
	}
	if _, err := alice.Ends(plugins.Done); err != nil || len(host.Store(plugintest.Alice).Values()) > 0 {
		t.Errorf("old votes are kept: %v", err)
	}
}
