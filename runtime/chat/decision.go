package chat

// Column is which turn of a conversation a message meets, seen from its
// author. The columns are tried in this order and the first that fits decides.
type Column int

const (
	OwnRuns Column = iota
	OwnParked
	OtherRuns
	NoneRuns
	columns
)

func (c Column) String() string {
	return [...]string{"own_runs", "own_parked", "other_runs", "none_runs"}[c]
}

// Full says whether the place where a message would go has room.
type Full int

const (
	NotFull Full = iota
	AuthorFull
	ConversationFull
	fulls
)

func (f Full) String() string { return [...]string{"no", "author", "conversation"}[f] }

// State is everything about a conversation that a decision may depend on.
type State struct {
	Column Column
	// Stopping: the turn of the column is being stopped or has failed, and
	// takes no more steers.
	Stopping bool
	// OlderOwnWaiting: an older message of the same author waits.
	OlderOwnWaiting bool
	// Full is asked of the lane into which the message would go if there were
	// room: its author's own open turn, or the waiting messages.
	Full Full
}

// States is the number of states.
const States = int(columns) * 2 * 2 * int(fulls)

// Index is the state's place in a Row. The append script computes the same.
func (s State) Index() int {
	return ((int(s.Column)*2+bit(s.Stopping))*2+bit(s.OlderOwnWaiting))*int(fulls) + int(s.Full)
}

// StateAt is the state whose Index is i.
func StateAt(i int) State {
	return State{
		Full:            Full(i % int(fulls)),
		OlderOwnWaiting: i/int(fulls)%2 == 1,
		Stopping:        i/int(fulls)/2%2 == 1,
		Column:          Column(i / int(fulls) / 4),
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Disposition is what becomes of a message. The words stand in logs, pages and
// metrics as they are here.
type Disposition string

const (
	Start          Disposition = "start"
	Wait           Disposition = "wait"
	SteerOwn       Disposition = "steer"
	SteerContext   Disposition = "steer_context"
	JoinParked     Disposition = "join_parked"
	EndWait        Disposition = "end_wait"
	Stop           Disposition = "stop"
	WithdrawOwn    Disposition = "withdraw_own"
	NothingRunning Disposition = "nothing_running"
	AsContext      Disposition = "context"
	Refused        Disposition = "refused"
	// What becomes of a change of a message, beside Stop and SteerOwn.
	ReplaceText Disposition = "replace_text" // of a waiting message
	Withdraw    Disposition = "withdraw"     // a waiting message is taken back
	Enter       Disposition = "enter"        // it is put like a new message
	Blank       Disposition = "blank"        // later prompts show it without its text
	ClaimKey    Disposition = "claim_key"    // its message is still to come, and will change nothing
	// Duplicate and Ignored are found by the append step itself, never
	// decided: the message is known already, or nobody of ours.
	Duplicate Disposition = "duplicate"
	Ignored   Disposition = "ignored"
)

// letters are the dispositions as a Row and the scripts spell them.
var letters = map[Disposition]byte{
	Start: 's', Wait: 'w', SteerOwn: 't', SteerContext: 'c', JoinParked: 'j', EndWait: 'e',
	Stop: 'x', WithdrawOwn: 'd', NothingRunning: 'n', AsContext: 'p', Refused: 'r',
	Duplicate: 'u', Ignored: 'i',
}

// Letter is the disposition as one byte; 'i' for an unknown one.
func (d Disposition) Letter() byte {
	if l, ok := letters[d]; ok {
		return l
	}
	return 'i'
}

// DispositionOf reads a letter; an unknown one is Ignored.
func DispositionOf(letter byte) Disposition {
	for d, l := range letters {
		if l == letter {
			return d
		}
	}
	return Ignored
}

// Row is one message's disposition in every state, a letter each, in the order
// of State.Index.
type Row string
