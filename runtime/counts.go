package runtime

// What Options.Count is told of.
const (
	// CountMessages: a message was decided. The label is the disposition.
	CountMessages = "messages"
	// CountResumed: a turn goes on in another run: its worker was lost, it was
	// handed over, or its wait has ended.
	CountResumed = "resumed"
	// CountEnded: a turn has ended. The label is the outcome.
	CountEnded = "ended"
)
