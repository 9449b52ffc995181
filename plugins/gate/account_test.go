package gate_test

import (
	"context"
	"encoding/json"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// What he has allowed holds for where the card said that it goes and whose rights it
// spends: a tool of the same name that an operator has given another place meanwhile is
// asked about anew.
func TestS1_AClickHoldsForWhatTheCardSaidOfTheTool(t *testing.T) {
	for name, test := range map[string]struct {
		host, provider string
		made           bool
	}{
		"the same":           {"a.example", "hub", true},
		"another host":       {"b.example", "hub", false},
		"no host any more":   {"", "hub", false},
		"another provider":   {"a.example", "other", false},
		"nobody's rights":    {"a.example", "", false},
		"nobody's, and here": {"", "", false},
	} {
		mail := tool(t, "mail", plugins.Once, says("did it"))
		mail.Provider, mail.Access, mail.Sends = "hub", plugins.Write, true
		mail.Host = func(json.RawMessage) (string, error) { return "a.example", nil }
		asked := call("mail", `{"city":"x"}`)
		asked.Call.ID = "c1"
		own := []chat.Entry{typed("go"), entry(chat.UserRole, chat.Steer, &bob)}
		asked.Run = in(own...)
		q := build(t, gate.Options{}, mail).Weigh(t.Context(), asked).Ask
		if q == nil || q.Host != "a.example" || q.Provider != "hub" {
			t.Fatalf("asked %+v", q)
		}
		card := entry(chat.ToolRole, chat.Consent, nil)
		card.Decision = &chat.Decision{Wait: "3", Ending: chat.Ending{How: chat.ByAnswer, By: &alice}, Calls: []chat.Decided{
			{Call: q.Call, Tool: q.Tool, Hash: q.Hash, Rule: q.Rule, Provider: test.provider, Host: test.host, Allowed: true},
		}}
		asked.Run = in(append(own, card)...)
		if got := build(t, gate.Options{}, mail).Call(t.Context(), asked); (got.Text == "did it") != test.made {
			t.Errorf("%s: answered %+v", name, got)
		}
	}
}

// opened notes for which account a call is opened.
type opened struct {
	people
	account *string
}

func (o opened) Open(ctx context.Context, use gate.Use) (*plugins.Account, func(), error) {
	*o.account = use.Account
	return o.people.Open(ctx, use)
}

// What he has allowed holds for the account that he was asked about: another one
// that he connects meanwhile is asked about anew, though it has the same name, as
// all accounts at a place that tells nothing of them have. One that he connects
// because this turn has asked him to is the one that he means.
func TestS1_AClickHoldsForTheAccountThatTheCardNamed(t *testing.T) {
	hash := askedHash(t, "write", `{"city":"x"}`)
	decided := func(d chat.Decided, wait string, how chat.How) chat.Entry {
		e := entry(chat.ToolRole, chat.Consent, nil)
		d.Call, d.Tool, d.Provider, d.Allowed = "c1", "write", "hub", true
		e.Decision = &chat.Decision{Wait: wait, Ending: chat.Ending{How: how, By: &alice}, Calls: []chat.Decided{d}}
		return e
	}
	allowed := decided(chat.Decided{Hash: hash, Rule: "conflict_writes", Account: "account", AccountID: "1"}, "3", chat.ByAnswer)
	nobody := decided(chat.Decided{Hash: hash, Rule: "conflict_writes"}, "3", chat.ByAnswer)
	connected := decided(chat.Decided{Rule: chat.RuleConnect}, "4", chat.ByAccount)
	for name, test := range map[string]struct {
		own      []chat.Entry
		standing gate.Standing
		made     bool
	}{
		"the same account":               {[]chat.Entry{allowed}, gate.Standing{Connected: true, Name: "account", ID: "1"}, true},
		"another one of its name":        {[]chat.Entry{allowed}, gate.Standing{Connected: true, Name: "account", ID: "2"}, false},
		"another one":                    {[]chat.Entry{allowed}, gate.Standing{Connected: true, Name: "other", ID: "2"}, false},
		"asked for since, under no name": {[]chat.Entry{nobody, connected}, gate.Standing{Connected: true, Name: "account", ID: "2"}, true},
		"asked for since":                {[]chat.Entry{allowed, connected}, gate.Standing{Connected: true, Name: "account", ID: "2"}, true},
		"asked for before":               {[]chat.Entry{connected, allowed}, gate.Standing{Connected: true, Name: "account", ID: "2"}, false},
	} {
		hub := tool(t, "write", plugins.Once, says("did it"))
		hub.Provider, hub.Account, hub.Access = "hub", true, plugins.Write
		var account string
		g := build(t, gate.Options{Accounts: opened{people{standing: test.standing}, &account}}, hub)
		asked := call("write", `{"city":"x"}`)
		asked.Call.ID = "c1"
		asked.Run = in(append([]chat.Entry{typed("go"), entry(chat.UserRole, chat.Steer, &bob)}, test.own...)...)
		weighed := g.Weigh(t.Context(), asked)
		if (weighed.Ask == nil) != test.made || weighed.Ask != nil && weighed.Ask.AccountID != test.standing.ID {
			t.Errorf("%s: weighed %+v", name, weighed.Ask)
		}
		if got := g.Call(t.Context(), asked); (got.Text == "did it") != test.made || account != "" && account != test.standing.ID || (account != "") != test.made {
			t.Errorf("%s: with account %q it is answered %+v", name, account, got)
		}
	}
}
