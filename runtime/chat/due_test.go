package chat_test

import (
	"testing"
	"time"

	"reeve/runtime/chat"
)

// The id of what is due sorts by its time among Slack's, and none of Slack's is
// like it.
func TestDueTSHasAPlaceOfItsOwn(t *testing.T) {
	at := time.Unix(1_764_580_500, 0)
	ts := chat.DueTS("schedule/r1", at)
	if len(ts) != 33 || ts.Posted() || ts.Short() != "1764580500.000000" || !ts.Time().Equal(at) {
		t.Errorf("%q at %v", ts, ts.Time())
	}
	if ts != chat.DueTS("schedule/r1", at) || ts == chat.DueTS("schedule/r2", at) || ts == chat.DueTS("schedule/r1", at.Add(time.Second)) {
		t.Error("it does not name what is due")
	}
	if before, after := chat.TS("1764580499.999999"), chat.TS("1764580500.000001"); ts <= before || ts >= after {
		t.Errorf("%q does not stand between %q and %q", ts, before, after)
	}
	if slacks := chat.TS("1764580500.000100"); !slacks.Posted() || slacks.Short() != slacks || slacks.Time().Nanosecond() != 100_000 {
		t.Errorf("Slack's %q is taken for what is due", slacks)
	}
}
