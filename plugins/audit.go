package plugins

import (
	"encoding/json"
	"time"

	"reeve/runtime/chat"
)

// What is kept for good of rights that were spent: the gate and what connects
// accounts write it, and one log keeps it. No plugin needs it.

// AuditRecord is what is kept of one credentialed call, of one answer to a question,
// or of one account that was connected or disconnected: who, what, for whom, and
// what was decided by which rule. It holds nothing of what the call was about.
type AuditRecord struct {
	// Key names the record for good: the same one again is no second record.
	Key          string
	Kind         AuditKind
	Time         time.Time
	Turn         chat.TurnID
	Conversation chat.Conversation
	Actor        chat.Actor
	Tool         string
	// Principal is whose rights the call spends; zero: nobody's.
	Principal chat.Actor
	Provider  string
	Decision  AuditDecision
	// Rule is whose decision it was: a step of the gate's, a row of the table, or a
	// check's name; of an answer, how the question ended; of an account, what proved
	// whose it is, or why it is not used.
	Rule string
	// Arguments is the hash of the call's tool and arguments.
	Arguments string
	// By is who answered, of an answer.
	By chat.Actor
}

// AuditKind says what a record is of.
type AuditKind string

const (
	AuditCall       AuditKind = "call"       // one call, made or refused
	AuditConsent    AuditKind = "consent"    // one answer about one call
	AuditConnect    AuditKind = "connect"    // an account was connected, or was refused
	AuditDisconnect AuditKind = "disconnect" // one is not used any more
)

// AuditDecision is what was decided. A call that is let through has a record before
// it is made, AuditAllowed. What becomes of it is its result, and of no interest
// here, but where the call was not made after all, or nobody knows whether it was:
// then a second record says so.
type AuditDecision string

const (
	AuditAllowed AuditDecision = "allowed"
	AuditRefused AuditDecision = "refused"
	AuditUnknown AuditDecision = "unknown"
)

// auditJSON is a record as it is kept and printed.
type auditJSON struct {
	Time         time.Time     `json:"time"`
	Kind         AuditKind     `json:"kind"`
	Turn         chat.TurnID   `json:"turn,omitempty"`
	Conversation string        `json:"conversation,omitempty"`
	Actor        string        `json:"actor,omitempty"`
	Tool         string        `json:"tool,omitempty"`
	Principal    string        `json:"principal,omitempty"`
	Provider     string        `json:"provider,omitempty"`
	Decision     AuditDecision `json:"decision"`
	Rule         string        `json:"rule,omitempty"`
	Arguments    string        `json:"arguments,omitempty"`
	By           string        `json:"by,omitempty"`
	Key          string        `json:"key"`
}

// MarshalJSON names people and places by one string each.
func (r AuditRecord) MarshalJSON() ([]byte, error) {
	conversation := ""
	if r.Conversation != (chat.Conversation{}) {
		conversation = r.Conversation.Key()
	}
	return json.Marshal(auditJSON{r.Time, r.Kind, r.Turn, conversation, r.Actor.Key(), r.Tool, r.Principal.Key(), r.Provider,
		r.Decision, r.Rule, r.Arguments, r.By.Key(), r.Key})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *AuditRecord) UnmarshalJSON(raw []byte) error {
	var j auditJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	*r = AuditRecord{Key: j.Key, Kind: j.Kind, Time: j.Time, Turn: j.Turn, Tool: j.Tool, Provider: j.Provider,
		Decision: j.Decision, Rule: j.Rule, Arguments: j.Arguments}
	r.Conversation, _ = chat.ParseConversation(j.Conversation)
	r.Actor, _ = chat.ParseActor(j.Actor)
	r.Principal, _ = chat.ParseActor(j.Principal)
	r.By, _ = chat.ParseActor(j.By)
	return nil
}
