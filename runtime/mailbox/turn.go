package mailbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// Ref is a turn as its holder writes to it.
type Ref struct {
	Conversation chat.Conversation
	Turn         chat.TurnID
	Token        Token
}

// Pulse is what a renewal tells the holder.
type Pulse struct {
	Stop   *Stop
	Unread int // steers that wait to be read
}

// Renew keeps turns for another TTL, in one round trip. Error i is ErrStale
// when turn i is not ours any more.
func (b *Box) Renew(ctx context.Context, refs []Ref) ([]Pulse, []error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	calls := make([]call, len(refs))
	for i, r := range refs {
		calls[i] = call{&b.scripts.renew,
			[]string{b.keys.turn(r.Conversation, r.Turn), b.keys.index(r.Conversation)},
			[]any{b.keys.of(r.Conversation), r.Conversation.Key(), string(r.Turn), string(r.Token), b.opts.LeaseTTL.Milliseconds()}}
	}
	values, errs := b.run(ctx, calls)
	pulses := make([]Pulse, len(refs))
	for i, v := range values {
		switch {
		case errs[i] != nil:
		case len(v) < 3:
			errs[i] = b.stale("renew")
		default:
			pulses[i] = Pulse{Stop: readStop(v[0], v[1]), Unread: int(num(v[2]))}
		}
	}
	return pulses, errs
}

// Commit is one write of a run.
type Commit struct {
	Ref
	// Number is one more than the last commit's. The same number again changes
	// nothing.
	Number  int64
	Entries [][]byte
	// Thread is what was said before the turn and read from Slack: ts, author and
	// body. It stands in front of the entries, and is known from then on.
	Thread []Item
	// Parts are to be posted while the turn goes on.
	Parts []chat.Part
	// Answer: a model's answer stands among the entries.
	Answer bool
	// Take: the turn is at a safe boundary, and reads the steers that wait.
	Take bool
	// Allowed are authors whose accounts are known to be fit to instruct.
	Allowed []chat.Actor
}

// Committed is what a commit found.
type Committed struct {
	Stop      *Stop
	Unread    int
	Unchecked []Unchecked
	Taken     []Item
}

// Commit writes entries and takes steers in one step, or answers ErrStale.
func (b *Box) Commit(ctx context.Context, c Commit) (Committed, error) {
	ctx, cancel := context.WithTimeout(ctx, b.runTimeout())
	defer cancel()
	_, parts, err := partItems(c.Parts)
	if err != nil {
		return Committed{}, fmt.Errorf("commit to turn %s: %w", c.Turn, err)
	}
	what := ""
	if c.Take {
		what += "t"
	}
	if c.Answer {
		what += "a"
	}
	args := []any{b.keys.of(c.Conversation), c.Conversation.Key(), string(c.Turn), string(c.Token), c.Number, what, actorList(c.Allowed), len(c.Thread), len(parts)}
	for _, said := range c.Thread {
		args = append(args, string(said.TS), said.Author.Key(), said.Body)
	}
	args = append(args, parts...)
	for _, e := range c.Entries {
		args = append(args, e)
	}
	v, err := b.one(ctx, &b.scripts.commit,
		[]string{b.keys.turn(c.Conversation, c.Turn), b.keys.log(c.Conversation, c.Turn)}, args...)
	if err != nil {
		return Committed{}, fmt.Errorf("commit to turn %s: %w", c.Turn, err)
	}
	if len(v) < 4 {
		return Committed{}, fmt.Errorf("commit to turn %s: %w", c.Turn, b.stale("commit"))
	}
	return Committed{Stop: readStop(v[0], v[1]), Unread: int(num(v[2])), Unchecked: readUnchecked(v[3]), Taken: readItems(v[4:])}, nil
}

// Outcome is how a turn ends.
type Outcome string

const (
	Done      Outcome = "done"
	Failed    Outcome = "failed"
	Stopped   Outcome = "stopped"
	Withdrawn Outcome = "withdrawn"
	Abandoned Outcome = "abandoned"
)

// Next is what a process offers when a step may start the conversation's next
// turn: room for it, and what a new turn is made of.
type Next struct {
	Claim bool
	Turn  chat.TurnID
	Setup []byte
	// LostBy, of a Claim: the worker of a turn is lost if its lease had ended
	// by then, on the store's clock; zero means now.
	LostBy time.Time
	// Due, of a Claim: the turn whose lease has ended, as the index says.
	Due chat.TurnID
}

// Close is a run's last write.
type Close struct {
	Ref
	Number  int64
	Outcome Outcome
	Entries [][]byte
	Parts   []chat.Part
	Allowed []chat.Actor
	// Tasks follow the end of the turn, once its parts have left the outbox.
	Tasks []TaskName
	Next  Next
}

// Closing is what a close found.
type Closing struct {
	// Closed: the turn has ended. Otherwise it goes on, with what was Taken, or
	// is being stopped (Stop is set and nothing was written).
	Closed    bool
	Stop      *Stop
	Taken     []Item
	Unchecked []Unchecked
	// Send is set when this process is to post Parts: all that stands in the
	// outbox, oldest first, which may begin with what a lost sender left.
	Send  *SendLease
	Parts []chat.Part
	// Next is the conversation's next turn, when this process has claimed it.
	Next *Claimed
	// Withdrawn are unread messages that a stop took back with the turn.
	Withdrawn []chat.MessageID
}

// Close ends a turn, or finds that it cannot end yet, or answers ErrStale.
func (b *Box) Close(ctx context.Context, c Close) (Closing, error) {
	ctx, cancel := context.WithTimeout(ctx, b.runTimeout())
	defer cancel()
	conv := c.Conversation
	args := []any{b.keys.of(conv), conv.Key(), string(c.Turn), string(c.Token), c.Number, string(c.Outcome), actorList(c.Allowed),
		b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(), string(c.Next.Turn), c.Next.Setup, bit(c.Next.Claim), taskNames(c.Tasks), len(c.Entries)}
	for _, e := range c.Entries {
		args = append(args, e)
	}
	parts, items, err := partItems(c.Parts)
	if err != nil {
		return Closing{}, fmt.Errorf("close turn %s: %w", c.Turn, err)
	}
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.close, []string{b.keys.turn(conv, c.Turn), b.keys.log(conv, c.Turn),
		b.keys.conv(conv), b.keys.out(conv), b.keys.index(conv)}, append(args, items...)...)
	if err != nil {
		return Closing{}, fmt.Errorf("close turn %s: %w", c.Turn, err)
	}
	switch {
	case len(v) == 0:
		return Closing{}, fmt.Errorf("close turn %s: %w", c.Turn, b.stale("close"))
	case str(v[0]) == "stopping":
		return Closing{Stop: readStop(v[1], v[2])}, nil
	}
	out := Closing{}
	out.Send, out.Parts = b.sendLease(ctx, conv, v[1], v[2], start, parts)
	if str(v[0]) == "open" {
		out.Unchecked, out.Taken = readUnchecked(v[3]), readItems(v[4:])
		return out, nil
	}
	out.Closed = true
	if len(c.Tasks) > 0 {
		b.tasksDue() // they are, when nothing of the turn waits to be posted
	}
	if len(v) > 5 {
		out.Withdrawn = messageIDs(conv, v[5:])
	}
	b.opts.Count(CountFollowUps, "", int(num(v[4])))
	out.Next, err = readClaimed(v[3], start)
	return out, b.unread(ctx, conv, err)
}

// HandOver gives a turn up, for any replica to go on with at once, or answers
// ErrStale.
func (b *Box) HandOver(ctx context.Context, r Ref) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	v, err := b.one(ctx, &b.scripts.handover,
		[]string{b.keys.turn(r.Conversation, r.Turn), b.keys.index(r.Conversation)},
		b.keys.of(r.Conversation), r.Conversation.Key(), string(r.Turn), string(r.Token))
	if err != nil {
		return fmt.Errorf("hand over turn %s: %w", r.Turn, err)
	}
	if len(v) == 0 || num(v[0]) == 0 {
		return fmt.Errorf("hand over turn %s: %w", r.Turn, ErrStale)
	}
	return nil
}

func actorList(actors []chat.Actor) string {
	keys := make([]string, len(actors))
	for i, a := range actors {
		keys[i] = a.Key()
	}
	return strings.Join(keys, ",")
}
