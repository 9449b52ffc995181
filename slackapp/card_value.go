package slackapp

import (
	"encoding/json"
	"strings"

	"reeve/runtime/chat"
)

// cardPrefix begins the action ids of a card's elements: "card:KIND:BUTTON".
const cardPrefix = "card"

// tickButton begins the name of a box; "card:KIND:tick:N" is the Nth.
const tickButton = "tick"

// valueMost is how long a button's value may be, in bytes.
const valueMost = 2000

func cardAction(kind chat.CardKind, button string) string {
	return strings.Join([]string{cardPrefix, string(kind), button}, ":")
}

// parseCardAction reads what cardAction wrote.
func parseCardAction(action string) (kind chat.CardKind, button string, ok bool) {
	parts := strings.SplitN(action, ":", 4)
	if len(parts) < 3 || parts[0] != cardPrefix {
		return "", "", false
	}
	return chat.CardKind(parts[1]), parts[2], true
}

// pressed is what a card's buttons say of it: what has to be known to do what
// they say, and to make a record of an offer or a connection.
type pressed struct {
	Conversation string      `json:"c,omitempty"`
	Turn         chat.TurnID `json:"t,omitempty"`
	Wait         string      `json:"w,omitempty"`
	Flow         string      `json:"f,omitempty"`
	Provider     string      `json:"o,omitempty"`
	Account      string      `json:"a,omitempty"`
	Messages     []chat.TS   `json:"m,omitempty"`
	Runs         string      `json:"r,omitempty"`
}

// cardValue is the value of a card's buttons. Of more messages than have room
// the newest are left out.
func cardValue(c chat.Card) string {
	v := pressed{
		Turn: c.Turn, Wait: c.Wait, Flow: c.Flow, Provider: c.Provider, Account: c.Account,
		Messages: c.Messages, Runs: c.Runs.Key(),
	}
	if c.Conversation != (chat.Conversation{}) {
		v.Conversation = c.Conversation.Key()
	}
	for {
		raw, err := json.Marshal(v)
		if err != nil || len(raw) > valueMost && len(v.Messages) == 0 {
			return ""
		}
		if len(raw) <= valueMost {
			return string(raw)
		}
		v.Messages = v.Messages[:len(v.Messages)-1]
	}
}

// parseValue reads what cardValue wrote; ok is false for anything else.
func parseValue(value string) (v pressed, in chat.Conversation, ok bool) {
	if json.Unmarshal([]byte(value), &v) != nil {
		return pressed{}, in, false
	}
	if v.Conversation != "" {
		if in, ok = chat.ParseConversation(v.Conversation); !ok {
			return pressed{}, in, false
		}
	}
	return v, in, true
}
