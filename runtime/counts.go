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
	// CountTasks: a try of a completed-turn task is over. The label is how: done,
	// again, release or aside.
	CountTasks = "tasks"
	// CountHandedBack: a message was handed back to its author.
	CountHandedBack = "handed_back"
	// CountRouted: a message was put to the router. The label is what became of it
	// by that, or unchanged, or skipped.
	CountRouted = "routed"
)
