package schedule

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// job is one reminder, or one piece of recurring work. It is written once and
// never changed: which of its times are over stands at a key of its own, so that
// whoever notes that cannot bring back what was cancelled meanwhile.
type job struct {
	V            int               `json:"v"`
	ID           string            `json:"id"`
	By           chat.Actor        `json:"by"`
	Conversation chat.Conversation `json:"conversation"`
	Text         string            `json:"text"`
	Created      time.Time         `json:"created"`
	// At is the first time, and Wall what the clocks of Zone show then.
	At   time.Time `json:"at"`
	Wall time.Time `json:"wall,omitzero"`
	Zone string    `json:"zone,omitempty"`
	// Every is how it recurs; empty: it does not. It ends after so many Times,
	// missed ones too, or at Until.
	Every string    `json:"every,omitempty"`
	Times int       `json:"times,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

const version = 1

// idOf names what a call creates: the same call, made again, the same.
func idOf(callKey string) string {
	sum := sha256.Sum256([]byte("schedule " + callKey))
	return "r" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}

var idForm = regexp.MustCompile(`^r[a-z2-7]{8}$`)

func readJob(raw []byte) (job, error) {
	var j job
	if err := json.Unmarshal(raw, &j); err != nil {
		return job{}, fmt.Errorf("read job: %w", err)
	}
	if j.V != version || !idForm.MatchString(j.ID) || !j.By.IsPerson() {
		return job{}, fmt.Errorf("read job %q: not one of this release", cut(j.ID, 20))
	}
	if _, err := j.rule(); err != nil {
		return job{}, fmt.Errorf("read job %s: %w", j.ID, err)
	}
	return j, nil
}

func (j job) zone() *time.Location {
	zone, err := loadZone(j.Zone)
	if err != nil {
		return nil
	}
	return zone
}

func (j job) rule() (rule, error) {
	if j.Every == "" {
		return rule{}, nil
	}
	r, err := readEvery(j.Every, j.Wall)
	if err == nil && r.step == 0 && j.zone() == nil {
		err = askZone
	}
	return r, err
}

// due are the job's times after a moment and not after another; next is the
// first one behind them, zero when there is none. It stops when there are most.
func (j job) due(after, through time.Time) (times []time.Time, next time.Time) {
	take := func(t time.Time) bool {
		switch {
		case !t.After(after):
		case t.After(through):
			next = t
			return false
		default:
			times = append(times, t)
		}
		return true
	}
	if j.Every == "" {
		take(j.At)
		return times, next
	}
	r, err := j.rule()
	if err != nil {
		return nil, time.Time{}
	}
	n := 0
	r.times(when{at: j.At, wall: j.Wall, zone: j.zone()}, func(t time.Time) bool {
		if n++; j.Times > 0 && n > j.Times || !j.Until.IsZero() && t.After(j.Until) {
			return false
		}
		return take(t)
	})
	return times, next
}

// next is the job's first time after a moment; zero when there is none.
func (j job) next(after time.Time) time.Time {
	_, next := j.due(after, after)
	return next
}

// shown writes a time as people read it, in the job's zone.
func (j job) shown(t time.Time) string {
	zone, name := j.zone(), j.Zone
	if zone == nil {
		zone, name = time.UTC, "UTC"
	}
	return t.In(zone).Format("Mon 2 Jan 2006, 15:04") + " (" + name + ")"
}

// recurs says how, in words; empty for what does not.
func (j job) recurs() string {
	if j.Every == "" {
		return ""
	}
	s := "every " + strings.TrimPrefix(strings.TrimSpace(j.Every), "every ")
	if strings.Contains(strings.ToUpper(s), "FREQ=") {
		s = "by the rule " + strings.TrimSpace(j.Every)
	}
	if j.Times > 0 {
		s += fmt.Sprintf(", %d times in all", j.Times)
	}
	if !j.Until.IsZero() {
		s += ", until " + j.shown(j.Until)
	}
	return s
}

// cut keeps a text short, by characters.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
