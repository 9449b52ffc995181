package chat

// Answered is what became of a click on a consent or connect card.
type Answered string

const (
	// AnswerRecorded: it counts, now or since an earlier delivery of the same.
	AnswerRecorded Answered = "recorded"
	// AnswerNotYours: somebody else is asked.
	AnswerNotYours Answered = "not_yours"
	// AnswerOver: the turn does not wait for it any more.
	AnswerOver Answered = "over"
)

// Owned is what became of a click on an offer.
type Owned string

const (
	// OwnHandedBack: the messages wait for a turn of their author's.
	OwnHandedBack Owned = "handed_back"
	// OwnAlready: they did so before.
	OwnAlready Owned = "already"
	// OwnNotYours: somebody else wrote them.
	OwnNotYours Owned = "not_yours"
	// OwnGone: there is nothing left to hand back.
	OwnGone Owned = "gone"
)
