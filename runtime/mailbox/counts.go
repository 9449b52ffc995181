package mailbox

// What Options.Count is told of.
const (
	// CountStale: a write under a token that is another's now was refused. The
	// label is the write.
	CountStale = "stale_writes"
	// CountMended: derived state was put right, or a record set aside.
	CountMended = "mended"
	// CountAside: a record was set aside. The label is where it stood.
	CountAside = "set_aside"
	// CountFollowUps: a steer that its turn did not carry became a follow-up.
	CountFollowUps = "follow_ups"
	// CountUntouched: what nobody had touched for long was parked.
	CountUntouched = "untouched"
)

func (b *Box) stale(write string) error {
	b.opts.Count(CountStale, write, 1)
	return ErrStale
}
