package chat

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Due says of a message that nobody has sent it: somebody has asked for it
// before, and its time has come. Its author is the Scheduler; who asked for it is
// shown, and has no part in what it may do.
type Due struct {
	Key       string    `json:"key"`
	CreatedBy Actor     `json:"created_by"`
	Created   time.Time `json:"created"`
	At        time.Time `json:"at"`
	Zone      string    `json:"zone,omitempty"` // empty: UTC
	// Note is said in front of the answer.
	Note string `json:"note,omitempty"`
	// Report: the note is all that is said. Privately: to CreatedBy alone.
	Report    bool `json:"report,omitempty"`
	Privately bool `json:"privately,omitempty"`
}

// dueDigits is how many digits stand behind those of a Slack timestamp.
const dueDigits = 16

// DueTS is the id of the message that is due at a time: the same for the same
// key and time, another for every other. It sorts among Slack's by that time, and
// no message of Slack's has it: theirs have six digits behind the point, and
// these have 22.
func DueTS(key string, at time.Time) TS {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", at.Unix(), key))
	n := binary.BigEndian.Uint64(sum[:8]) % 10_000_000_000_000_000
	return TS(fmt.Sprintf("%d.000000%0*d", at.Unix(), dueDigits, n))
}

// Posted reports whether a message of this id can stand in Slack.
func (ts TS) Posted() bool { return len(ts) != len("1700000000.000000")+dueDigits }

// Short is the id in Slack's form. Of a message that is due it is the time alone.
func (ts TS) Short() TS {
	if ts.Posted() {
		return ts
	}
	return ts[:len(ts)-dueDigits]
}
