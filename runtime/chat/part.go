package chat

// Destination is where a part of a reply is posted: a thread of a channel, or
// a person's DM.
type Destination struct {
	Channel ChannelID `json:"channel,omitempty"`
	Thread  TS        `json:"thread,omitempty"`
	// DM is the person whose DM is meant, when Channel is empty.
	DM UserID `json:"dm,omitempty"`
}

// Part is one post in the outbox.
type Part struct {
	// ID is "TURN/N"; it is carried in the message's metadata.
	ID   string      `json:"id"`
	Turn TurnID      `json:"turn"`
	To   Destination `json:"to"`
	// Markdown is CommonMark as the model or our own code wrote it, already
	// cut so that one post can hold it. It is disarmed when it is rendered.
	Markdown string `json:"markdown"`
	// Card is shown instead of Markdown, which then says the same in plain words
	// for where no card can be shown.
	Card *Card `json:"card,omitempty"`
	// Edits is the part whose post this one takes the place of.
	Edits string `json:"edits,omitempty"`
	// Mentions are the people whose mention in Markdown may ping.
	Mentions []UserID `json:"mentions,omitempty"`
	// Visibility is who could read the conversation when Slack said so with the
	// message Seen. Without Seen that is too long ago to count.
	Visibility Visibility `json:"visibility,omitempty"`
	Seen       TS         `json:"seen,omitempty"`
	// Written is when the part was put into the outbox, in the form of a Slack
	// timestamp; empty when that is not known.
	Written TS `json:"written,omitempty"`
}
