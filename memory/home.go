package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Buttons of the home tab.
const (
	buttonForget    = "forget"
	buttonBringBack = "bring_back"
	buttonForgetAll = "forget_all"
	buttonExport    = "export"
)

func (p *Plugin) home() *plugins.Home {
	return &plugins.Home{Title: "What I remember of you", Items: p.homeItems, Act: p.homeAct}
}

// homeItems are a person's memories and those that he has forgotten and can bring
// back, what has changed last first: what he has just pressed is never out of
// sight, however many there are.
func (p *Plugin) homeItems(ctx context.Context, person chat.Actor) ([]chat.HomeItem, error) {
	owner, ok := Personal(person)
	if !ok {
		return nil, nil
	}
	all, err := p.options.Store.All(ctx, owner)
	if err != nil {
		return nil, err
	}
	now := p.services.Now()
	held, shown := 0, []dated{}
	for _, m := range all {
		switch {
		case m.holds(now):
			held++
			shown = append(shown, dated{m.Created, chat.HomeItem{
				ID: m.ID, Text: said(m) + "\n" + dates(m), Buttons: []chat.HomeButton{{Name: buttonForget, Label: "Forget"}},
			}})
		case m.returns(now):
			shown = append(shown, dated{m.Forgotten, chat.HomeItem{
				ID: m.ID, Text: "Forgotten: " + said(m), Buttons: []chat.HomeButton{{Name: buttonBringBack, Label: "Bring back"}},
			}})
		}
	}
	if len(shown) == 0 {
		return []chat.HomeItem{{Text: "Nothing. When you ask me to remember something, or tell me in passing how you like things, it will stand here.", Small: true}}, nil
	}
	slices.SortStableFunc(shown, func(x, y dated) int { return y.at.Compare(x.at) })
	count := fmt.Sprintf("%d memories", held)
	if held == 1 {
		count = "1 memory"
	}
	text := count + ", for you alone. What you forget can be brought back for 24 hours."
	if held >= most {
		text += " As many as there may be: nothing is added until you forget something."
	}
	items := []chat.HomeItem{{Text: text, Buttons: []chat.HomeButton{
		{Name: buttonExport, Label: "Send me all as JSON"},
		{Name: buttonForgetAll, Label: "Forget all", Ask: "Forget all that I remember of you? For 24 hours each one can be brought back here."},
	}}}
	for _, s := range shown {
		items = append(items, s.item)
	}
	return items, nil
}

// dated is an item with when it has changed last.
type dated struct {
	at   time.Time
	item chat.HomeItem
}

func dates(m Memory) string {
	return fmt.Sprintf("%s, since %s, until %s", m.Kind, m.Created.Format("2006-01-02"), m.Expires.Format("2006-01-02"))
}

// homeAct does what a button says to the person's own memories. An id that is
// not among them finds nothing.
func (p *Plugin) homeAct(ctx context.Context, person chat.Actor, button, item string) (string, error) {
	owner, ok := Personal(person)
	if !ok {
		return "", nil
	}
	now := p.services.Now()
	switch button {
	case buttonForget:
		_, err := p.options.Store.Forget(ctx, owner, now, Forgetter{}, item)
		return "", err
	case buttonBringBack:
		_, err := p.options.Store.Restore(ctx, owner, now, item)
		return "", err
	case buttonForgetAll:
		held, err := p.options.Store.Held(ctx, owner, now)
		if err != nil {
			return "", err
		}
		ids := make([]string, len(held))
		for i, m := range held {
			ids[i] = m.ID
		}
		_, err = p.options.Store.Forget(ctx, owner, now, Forgetter{}, ids...)
		return "", err
	case buttonExport:
		all, err := p.options.Store.All(ctx, owner)
		if err != nil {
			return "", err
		}
		text, err := Export(all)
		if err != nil {
			return "", err
		}
		return "All that I remember of you:\n\n```json\n" + text + "\n```", nil
	}
	return "", nil
}

// Export writes memories as JSON, all fields of them.
func Export(memories []Memory) (string, error) {
	if memories == nil {
		memories = []Memory{}
	}
	text, err := json.MarshalIndent(memories, "", "  ")
	if err != nil {
		return "", fmt.Errorf("export memories: %w", err)
	}
	return string(text), nil
}
