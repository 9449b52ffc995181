package slackapp_test

import (
	"context"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// first says that all is said for the first time.
type first struct{}

func (first) Once(context.Context, string, time.Duration) (bool, error) { return true, nil }

// TestWhoWritesBelowACardIsShownItsButtons, in its thread, and to him alone.
func TestWhoWritesBelowACardIsShownItsButtons(t *testing.T) {
	p := lay(t, consentCard(), simulator.AliceDM)
	ctx := within(t)
	n := slackapp.NewNotifier(slackapp.NotifierOptions{Client: p.cards.Client, Memory: first{}})
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(run) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	in := chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.AliceDM, Root: chat.TS(p.ts)}
	for below, want := range map[string]string{mailbox.BelowCard: slackapp.TextBelow(true), mailbox.BelowNotice: slackapp.TextBelow(false)} {
		n.Told(ctx, []runtime.Outcome{{
			Message:     chat.Message{ID: chat.MessageID{Team: in.Team, Channel: in.Channel, TS: ts2}, Conversation: in, Author: cardAlice, Addressed: true, Text: "yes"},
			Disposition: chat.Ignored, Below: below,
		}})
		p.waits(ctx, below, func(e simulator.Event) bool {
			return e.Kind == simulator.EphemeralPosted && e.Ephemeral.Text == want && e.Ephemeral.User == simulator.Alice && e.Ephemeral.ThreadTS == p.ts
		})
	}
}
