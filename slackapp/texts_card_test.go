package slackapp_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// The sentences that no golden card shows.
func TestTextsOfCards(t *testing.T) {
	dm := consentCard()
	dm.Visibility, dm.Contributors = chat.DM, nil
	nobody := connectCard()
	nobody.Ending = &chat.Ending{How: chat.ByAccount}
	for want, got := range map[string]string{
		"*I need your word before I go on.* What you asked me (turn z12345) leads to the calls below. Tick those that I may make; what you do not tick is refused.": slackapp.TextConsent(dm),
		"What comes of it will be seen in our direct messages, which you alone can read.":                                                                           slackapp.TextSeen(chat.DM),
		"What comes of it will be seen in the thread where you asked, which everybody in that channel can read.":                                                    slackapp.TextSeen(chat.Private),
		"What comes of it will be seen in the thread where you asked, which people of another organisation can read too.":                                           slackapp.TextSeen(chat.Shared),
		"What comes of it will be seen in the thread where you asked, for everybody who can read that.":                                                             slackapp.TextSeen(""),
		"*Connected*. I go on.":                           slackapp.TextEnding(nobody),
		"Why I ask: I may not decide about it by myself.": slackapp.TextRule("another"),
		"Account: yours at github":                        slackapp.TextAccount("github", ""),
		"It can carry data out of Slack.":                 slackapp.TextHost(""),
		"It reads.":                                       slackapp.TextChanges(false),
		"Arguments of call 2 of turn z12345, on the card below, part 1 of 3:": slackapp.TextArguments(dm.Turn, 2, 1, 3),
		"It has no arguments.": slackapp.TextNoArguments(),
		"Its arguments stand above this card, as those of call 2 of turn z12345.":                                                            slackapp.TextArgumentsAbove(dm.Turn, 2),
		"somebody else and <@UBOB> wrote into this turn too.":                                                                                slackapp.TextContributed([]chat.Actor{chat.Person("T1", "<!here>"), cardBob}),
		"I do not read what is written below a card. Use its buttons, if it still has some; for anything else write to me in a new message.": slackapp.TextBelow(true),
		"I do not read what is written below a notice. Please write to me in a new message, or in the thread that it is about.":              slackapp.TextBelow(false),
		"A card that I cannot show.": slackapp.TextCard(chat.Card{Kind: "another"}),
	} {
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	rules, seen := []string{"conflict_sends", "conflict_reads", "conflict_writes", "private_sends", "foreign_writes", "every_write", "always", "another"}, map[string]bool{}
	for _, rule := range rules {
		seen[slackapp.TextRule(rule)] = true
	}
	if len(seen) != len(rules) {
		t.Errorf("%d rules have %d sentences", len(rules), len(seen))
	}
}
