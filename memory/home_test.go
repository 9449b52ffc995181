package memory

import (
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
)

func (k *kit) sees(person chat.Actor) []chat.HomeItem {
	k.Helper()
	items, err := k.x.Home.Items(k.Context(), person)
	if err != nil {
		k.Fatal(err)
	}
	return items
}

func (k *kit) presses(person chat.Actor, button, item string) string {
	k.Helper()
	dm, err := k.x.Home.Act(k.Context(), person, button, item)
	if err != nil {
		k.Fatal(err)
	}
	return dm
}

func TestTheHomeTabIsAPersonsOwn(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	items := k.sees(alice)
	if len(items) != 2 || !strings.Contains(items[1].Text, "Prefers terse") {
		t.Fatalf("Alice sees %+v", items)
	}
	id := items[1].ID
	if theirs := k.sees(bob); len(theirs) != 1 || strings.Contains(theirs[0].Text, "terse") || len(theirs[0].Buttons) != 0 {
		t.Errorf("Bob sees %+v", theirs)
	}
	k.presses(bob, buttonForget, id)
	k.presses(bob, buttonForgetAll, "")
	k.holds(mine(alice), "Prefers terse code reviews.")

	k.presses(alice, buttonForget, id)
	k.holds(mine(alice))
	if items := k.sees(alice); len(items) != 2 || items[1].Buttons[0].Name != buttonBringBack {
		t.Errorf("when it is forgotten Alice sees %+v", items)
	}
	k.presses(bob, buttonBringBack, id)
	k.holds(mine(alice))
	k.presses(alice, buttonBringBack, id)
	k.holds(mine(alice), "Prefers terse code reviews.")

	if dm := k.presses(alice, buttonExport, ""); !strings.Contains(dm, `"text": "Prefers terse code reviews."`) || !strings.Contains(dm, `"text": "what she says"`) {
		t.Errorf("the export: %s", dm)
	}
	if dm := k.presses(bob, buttonExport, ""); strings.Contains(dm, "terse") {
		t.Errorf("Bob's export: %s", dm)
	}
	k.presses(alice, buttonForgetAll, "")
	k.holds(mine(alice))
	k.now = k.now.Add(24 * time.Hour)
	if items := k.sees(alice); len(items) != 1 {
		t.Errorf("a day later Alice sees %+v", items)
	}
	if dm := k.presses(alice, "launch", id); dm != "" {
		t.Errorf("an unknown button said %q", dm)
	}
}
