package memory

// What is counted, by Options.Count.
const (
	CountMemories = "memories" // what became of proposed memories, by a word of Counted
)

// Counted are the words by which memories are counted.
var Counted = []string{string(added), string(known), string(replaced), string(full), countedNoAnswer, countedSpent}

const (
	countedNoAnswer = "no_answer" // the model did not answer in the form it was asked for
	countedSpent    = "spent"     // the person may use no more of the model today
)
