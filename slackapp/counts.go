package slackapp

// What SenderOptions.Count is told of.
const (
	// CountParts: the sender has done with a part. The label is posted, found (an
	// earlier attempt had been carried out), refused (by Slack, for good), late
	// (too old to be posted) or moved (to its actor's DM, since more could read).
	CountParts = "parts"
	// CountLooks: the sender looked into a thread before it posted again.
	CountLooks = "looks"
	// CountLate: an attempt was carried out after its deadline, or a part was
	// found standing there twice.
	CountLate = "late_posts"
)
