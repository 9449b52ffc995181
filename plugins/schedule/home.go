package schedule

import (
	"context"

	"reeve/runtime/chat"
)

// items are a person's reminders in his home tab.
func (p *Plugin) items(ctx context.Context, person chat.Actor) ([]chat.HomeItem, error) {
	all, err := p.mine(ctx, person)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return []chat.HomeItem{{Small: true, Text: "You have asked for none. Ask me in any thread: \"remind us on Friday at 9:00 to …\"."}}, nil
	}
	items := make([]chat.HomeItem, len(all))
	for i, l := range all {
		items[i] = chat.HomeItem{ID: l.ID, Text: l.line(), Buttons: []chat.HomeButton{{Name: "cancel", Label: "Cancel", Ask: "Cancel this reminder?"}}}
	}
	return items, nil
}

// act does what a button says.
func (p *Plugin) act(ctx context.Context, person chat.Actor, button, item string) (dm string, err error) {
	if button == "cancel" {
		_, err = p.withdraw(ctx, person, item)
	}
	return "", err
}
