package slackapp_test

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

const (
	waits3 = "answer T1:CGENERAL:1700000000.000100 z12345 w.3 "
	turn1  = "T1:CGENERAL:1700000000.000100 z12345 "
)

func TestWhatTheButtonsOfACardDo(t *testing.T) {
	for _, c := range []struct {
		card   string
		action string
		ticked []string
		want   []string
		told   []string
	}{
		{"consent", "card:consent:tick:1", []string{"call_1"}, nil, nil},
		{"consent", "card:consent:allow", []string{"call_2", "call_1"}, []string{waits3 + "UALICE [call_1 call_2] false"}, nil},
		{"consent", "card:consent:allow", []string{"call_2"}, []string{waits3 + "UALICE [call_2] false"}, nil},
		{"consent", "card:consent:allow", nil, nil, []string{slackapp.TextTickFirst}},
		{"consent", "card:consent:refuse", []string{"call_1"}, []string{waits3 + "UALICE [] true"}, nil},
		{"connect", "card:connect:open", nil, nil, nil},
		{"connect", "card:connect:refuse", nil, []string{waits3 + "UALICE [] true"}, nil},
		{"offer", "card:offer:own", nil, []string{"own " + turn1 + "[" + ts1 + " " + ts2 + "] UALICE"}, nil},
		{"connected", "card:connected:disconnect", nil, []string{"disconnect UALICE github"}, []string{"Disconnected."}},
	} {
		t.Run(c.card+" "+c.action, func(t *testing.T) {
			p := lay(t, cards()[c.card], simulator.AliceDM)
			p.press(simulator.Alice, simulator.AliceDM, c.action, c.ticked...)
			p.wantCalls(c.want...)
			if got := p.told(simulator.Alice); !slices.Equal(got, c.told) {
				t.Errorf("told %q, want %q", got, c.told)
			}
		})
	}
}

func TestAClickOfAnotherIsToldToHimAlone(t *testing.T) {
	p := lay(t, consentCard(), simulator.General)
	p.answer, p.own = chat.AnswerNotYours, chat.OwnNotYours
	before := p.blocks(simulator.General)
	p.press(simulator.Bob, simulator.General, "card:consent:allow", "call_1")
	p.wantCalls(waits3 + "UBOB [call_1] false")
	if got := p.told(simulator.Bob); !slices.Equal(got, []string{slackapp.TextCardNotYours}) {
		t.Errorf("Bob is told %q", got)
	}
	if p.told(simulator.Alice) != nil || p.blocks(simulator.General) != before {
		t.Error("Alice is told, or the card changed")
	}
}

// TestAVoidCard says so, and loses its buttons unless its record has come.
func TestAVoidCard(t *testing.T) {
	p := lay(t, consentCard(), simulator.AliceDM)
	p.answer = chat.AnswerOver
	after, err := p.click(simulator.Alice, simulator.AliceDM, "card:consent:allow", "call_1")
	if err != nil {
		t.Fatal(err)
	}
	after(t.Context())
	got := p.blocks(simulator.AliceDM)
	if strings.Contains(got, `"actions"`) || !strings.Contains(got, slackapp.TextCardOver) || !strings.Contains(got, "acme/site") {
		t.Errorf("the card is %s", got)
	}
	after(t.Context()) // as of a second click that was on its way
	if again := p.blocks(simulator.AliceDM); again != got {
		t.Errorf("the card is then %s", again)
	}
	if got := p.told(simulator.Alice); len(got) != 2 || got[0] != slackapp.TextCardOver {
		t.Errorf("Alice is told %q", got)
	}
}

func TestAnOfferBecomesARecord(t *testing.T) {
	for outcome, want := range map[chat.Owned]string{
		chat.OwnHandedBack: "took it as a turn of their own", chat.OwnAlready: "Handed back already", chat.OwnGone: "nothing left to hand back",
		chat.OwnNotYours: "Do it as my own turn",
	} {
		p := lay(t, cards()["offer"], simulator.AliceDM)
		p.own = outcome
		p.press(simulator.Alice, simulator.AliceDM, "card:offer:own")
		if got := p.blocks(simulator.AliceDM); !strings.Contains(got, want) || strings.Contains(got, `"actions"`) != (outcome == chat.OwnNotYours) {
			t.Errorf("%s: the card is %s", outcome, got)
		}
	}
}

func TestADisconnectedAccountIsARecord(t *testing.T) {
	p := lay(t, cards()["connected"], simulator.AliceDM)
	p.press(simulator.Alice, simulator.AliceDM, "card:connected:disconnect")
	if got := p.blocks(simulator.AliceDM); !strings.Contains(got, "disconnected it") || !strings.Contains(got, "alice-gh at github") || strings.Contains(got, `"actions"`) {
		t.Errorf("the card is %s", got)
	}
}

// The button names the account as its provider does, however it is shown: by another
// name nothing would be disconnected, and the card would say that it is.
func TestTheButtonNamesTheAccountAsItIs(t *testing.T) {
	for _, name := range []string{"alice-gh", "Alice \u2764\ufe0f ", "a\u00a0b\u202ec", strings.Repeat("<\u2028", 100)} {
		card := cards()["connected"]
		card.Account, card.Flow = name, strings.Repeat("f", 43)
		p := lay(t, card, simulator.AliceDM)
		p.press(simulator.Alice, simulator.AliceDM, "card:connected:disconnect")
		if p.account != name {
			t.Errorf("of %q is disconnected %q", name, p.account)
		}
	}
}

// A card whose code is over shows another one in its place, with the same buttons.
// Where there is none its person is told why, and the card stays.
func TestACardGetsAnotherCode(t *testing.T) {
	p := lay(t, cards()["connect_device"], simulator.AliceDM)
	next := cards()["connect_device"]
	next.Code = "WXYZ-9876"
	p.renewed = &next
	p.press(simulator.Alice, simulator.AliceDM, "card:connect:renew")
	got := p.blocks(simulator.AliceDM)
	if !strings.Contains(got, "WXYZ-9876") || strings.Contains(got, "ABCD-1234") || !strings.Contains(got, "card:connect:renew") || !strings.Contains(got, "card:connect:refuse") {
		t.Errorf("the card is %s", got)
	}
	p.wantCalls("renew UALICE f_1")
	p.renewed, p.sentence = nil, "The account is connected."
	p.press(simulator.Alice, simulator.AliceDM, "card:connect:renew")
	p.err = errAway
	p.press(simulator.Alice, simulator.AliceDM, "card:connect:renew")
	if told := p.told(simulator.Alice); len(told) != 2 || told[0] != p.sentence || !strings.Contains(told[1], "no new code") || p.blocks(simulator.AliceDM) != got {
		t.Errorf("told %q, and the card is %s", told, p.blocks(simulator.AliceDM))
	}
}

// TestAClickThatIsNotDurableIsNotAcknowledged: whatever goes wrong is an error.
func TestAClickThatIsNotDurableIsNotAcknowledged(t *testing.T) {
	for card, action := range map[string]string{"consent": "card:consent:refuse", "offer": "card:offer:own", "connected": "card:connected:disconnect"} {
		p := lay(t, cards()[card], simulator.AliceDM)
		p.err = errAway
		if after, err := p.click(simulator.Alice, simulator.AliceDM, action); err == nil || after != nil {
			t.Errorf("%s: %v", action, err)
		}
	}
}

// TestClicksThatAreNoneOfOurs change nothing, whatever they say.
func TestClicksThatAreNoneOfOurs(t *testing.T) {
	d := &decider{}
	cards := &slackapp.Cards{Decider: d, Connections: d, Log: slog.New(slog.DiscardHandler)}
	buttons := slackapp.Buttons{Cards: cards}
	value := `{"c":"T1:C1:1.1","t":"t_1","w":"w"}`
	for _, k := range []slackapp.Click{
		{Action: "card:consent:allow", Value: value, Ticked: []string{"a"}, Home: true},
		{Action: "card:consent", Value: value}, {Action: "card", Value: value}, {Action: "", Value: value}, {Action: "cards:consent:allow", Value: value},
		{Action: "card:connect:allow", Value: value, Ticked: []string{"a"}}, {Action: "card:other:refuse", Value: value}, {Action: "home:a:b:c", Value: value},
	} {
		k.By = cardAlice
		if after, err := buttons.Click(t.Context(), k); err != nil || after != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, value := range []string{"", "nonsense", `{"c":"x"}`, `{"c":1}`, "[]"} {
		if _, err := buttons.Click(t.Context(), slackapp.Click{By: cardAlice, Action: "card:consent:refuse", Value: value}); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
	if got := d.did(); len(got) != 0 {
		t.Errorf("done: %q", got)
	}
}

func TestWhatIsReadOfAClick(t *testing.T) {
	box := func(values ...string) object {
		var options []object
		for _, v := range values {
			options = append(options, object{"value": v})
		}
		return object{"type": "checkboxes", "selected_options": options}
	}
	at := object{"container": object{"type": "message", "channel_id": "DALICE", "message_ts": ts1, "thread_ts": ts2}, "trigger_id": "1.2"}
	want := slackapp.Click{
		By: cardAlice, Action: "home:memory:forget:m_1", Value: "x", Channel: "DALICE", TS: ts1, Thread: ts2, Trigger: "1.2",
	}
	for name, c := range map[string]struct {
		state any
		want  []string
	}{
		"no state":         {nil, nil},
		"no boxes":         {object{"values": object{}}, nil},
		"ticked":           {object{"values": object{"b2": object{"card:consent:tick:2": box("c2")}, "b1": object{"card:consent:tick:1": box("c1")}}}, []string{"c1", "c2"}},
		"not ticked":       {object{"values": object{"b1": object{"card:consent:tick:1": box()}}}, nil},
		"another's box":    {object{"values": object{"b1": object{"other:tick:1": box("c1")}}}, nil},
		"no box":           {object{"values": object{"b1": object{"card:consent:tick:1": object{"type": "plain_text_input", "selected_options": []object{{"value": "c1"}}}}}}, nil},
		"nonsense":         {object{"values": object{"b1": object{"card:consent:tick:1": "c1"}}}, nil},
		"not even a state": {"c1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			want.Ticked = c.want
			if got := readClick(t, press(at, object{"state": c.state})); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	for _, container := range []object{{"channel_id": "C <!here>", "message_ts": ts1}, {"channel_id": "C1", "message_ts": "now"}, {}} {
		if got := readClick(t, press(object{"container": container})); got.Channel != "" || got.TS != "" {
			t.Errorf("of %v: %+v", container, got)
		}
	}
}

func TestALongOfferKeepsItsButton(t *testing.T) {
	c := cards()["offer"]
	for i := range 300 {
		c.Messages = append(c.Messages, chat.TS(fmt.Sprintf("1700000000.%06d", i)))
	}
	p := lay(t, c, simulator.AliceDM)
	p.press(simulator.Alice, simulator.AliceDM, "card:offer:own")
	if got := p.did(); len(got) != 1 || !strings.Contains(got[0], ts1) {
		t.Errorf("done: %q", got)
	}
}
