package slackapp

// What SenderOptions.Count is told of.
const (
	// CountParts: a part is out. The label is posted, found (an earlier attempt
	// had been carried out) or refused.
	CountParts = "parts"
	// CountLooks: the sender looked into a thread before it posted again.
	CountLooks = "looks"
)
