package chat

import "time"

// Question is one call that its turn's actor is asked about, with all that a
// card shows of it.
type Question struct {
	Call string `json:"call"` // the call's id, which is its own in the turn
	Tool string `json:"tool"`
	// Arguments are all of them, as they are shown: characters that nobody would
	// see are written out.
	Arguments string `json:"arguments"`
	// Hash names the tool and its arguments: two calls with the same hash are the
	// same call.
	Hash string `json:"hash"`
	// Rule is why he is asked.
	Rule string `json:"rule"`
	// Provider names whose rights the call spends, and Account the account, as
	// its provider calls it; empty: nobody's, or none is connected.
	Provider string `json:"provider,omitempty"`
	Account  string `json:"account,omitempty"`
	// AccountID tells the account from another one of the same name.
	AccountID string `json:"account_id,omitempty"`
	// Host is where the call sends to, where that has a name.
	Host  string `json:"host,omitempty"`
	Sends bool   `json:"sends,omitempty"`
	Write bool   `json:"write,omitempty"`
}

// Asking is what a parked turn waits for: its actor's answer about calls, or
// an account of his at a provider.
type Asking struct {
	// Questions are the calls that he is asked about.
	Questions []Question `json:"questions,omitempty"`
	// Provider is where he is to connect an account that has the Scopes, in the
	// provider's own words; empty: nowhere.
	Provider string   `json:"provider,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	// Lacking is what an account that is connected has not granted.
	Lacking []string `json:"lacking,omitempty"`
	// Calls are the ids of those that wait for the account, and Tools theirs.
	Calls []string `json:"calls,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

// How says how a wait ended.
type How string

const (
	ByAnswer    How = "answered"    // its actor pressed a button of its card
	ByAccount   How = "connected"   // the account is there
	ByRefusal   How = "refused"     // he, or the provider, refused the account
	ByTime      How = "expired"     // nobody answered in time
	ByMessage   How = "overtaken"   // its actor wrote a forced message instead
	ByNoCard    How = "undelivered" // Slack would not take the card
	ByOperator  How = "resumed"     // an operator let the turn go on
	ByStop      How = "stopped"     // the turn was stopped
	ByAbandoned How = "abandoned"   // the turn was given up
	ByHandBack  How = "handed_back" // of an offer: what it is about waits for a turn of its author's
)

// Ending is how a wait ended: what the step that ended it keeps.
type Ending struct {
	How How `json:"how"`
	// By is who has answered, and Time when.
	By   *Actor    `json:"by,omitempty"`
	Time time.Time `json:"time,omitzero"`
	// Allowed are the calls that he has allowed; all others are refused.
	Allowed []string `json:"allowed,omitempty"`
}

// Decision is what a consent entry records: how a wait of its turn ended, and
// what became of each call that waited.
type Decision struct {
	// Wait names the wait that ended; empty: nobody was asked.
	Wait string `json:"wait,omitempty"`
	Ending
	Calls []Decided `json:"calls,omitempty"`
	// Begun are the calls that may have been made from this entry on: the step
	// that wrote it has journalled them.
	Begun []string `json:"begun,omitempty"`
}

// RuleConnect stands in a decision about a call for which an account was to be
// connected: it is no consent.
const RuleConnect = "connect"

// Decided is one call of a decision.
type Decided struct {
	Call     string `json:"call"`
	Tool     string `json:"tool"`
	Hash     string `json:"hash"`
	Rule     string `json:"rule,omitempty"`
	Provider string `json:"provider,omitempty"`
	Account  string `json:"account,omitempty"` // that the card named
	// AccountID is that account's own.
	AccountID string `json:"account_id,omitempty"`
	Host      string `json:"host,omitempty"`
	Allowed   bool   `json:"allowed,omitempty"`
}

// CardKind says what a card is for.
type CardKind string

const (
	// ConsentCard asks about calls: a box to tick for each, and two buttons.
	ConsentCard CardKind = "consent"
	// ConnectCard asks to connect an account: a link, and the place to enter
	// what the link's page shows.
	ConnectCard CardKind = "connect"
	// OfferCard offers to the author of a steer to have it done as a turn of his
	// own.
	OfferCard CardKind = "offer"
	// ConnectedCard tells of a new connection: a button ends it.
	ConnectedCard CardKind = "connected"
)

// Card is a post with buttons. It is data: the words on it are the Slack
// edge's, and no model writes any part of it but a call's arguments.
type Card struct {
	Kind CardKind `json:"kind"`
	// Conversation, Turn and Wait are what its buttons name.
	Conversation Conversation `json:"conversation,omitzero"`
	Turn         TurnID       `json:"turn,omitempty"`
	Wait         string       `json:"wait,omitempty"`
	// Actor is whose turn asks.
	Actor Actor `json:"actor,omitzero"`
	// Visibility is who will read an answer in the conversation.
	Visibility Visibility `json:"visibility,omitempty"`
	// Until is when the wait ends by itself.
	Until  time.Time `json:"until,omitzero"`
	Asking *Asking   `json:"asking,omitempty"`
	// Contributors are whose steers made it unclear whose wish the calls carry
	// out.
	Contributors []Actor `json:"contributors,omitempty"`
	// Ending makes the card a record: nothing on it can be pressed any more.
	Ending *Ending `json:"ending,omitempty"`

	// URL is the link of a connect card, and Code what its page asks for (the
	// device flow); empty where the page itself shows a code.
	URL  string `json:"url,omitempty"`
	Code string `json:"code,omitempty"`
	// Flow names the connection that is under way.
	Flow string `json:"flow,omitempty"`
	// Provider and Account are what a connected card tells of.
	Provider string `json:"provider,omitempty"`
	Account  string `json:"account,omitempty"`

	// Messages are those that an offer is about, whose turn Runs it was.
	Messages []TS  `json:"messages,omitempty"`
	Runs     Actor `json:"runs,omitzero"`
}
