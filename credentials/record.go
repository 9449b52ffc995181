package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// Owner is whose account it is, and where. Only a whole person has accounts: a
// missing id is nobody's and owns nothing.
type Owner struct {
	Actor    chat.Actor
	Provider string
}

var (
	idForm       = regexp.MustCompile(`^[A-Za-z0-9]{1,32}$`)
	providerForm = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.:-]{0,127}$`)
)

// Key is "TEAM:USER:PROVIDER".
func (o Owner) Key() string { return o.Actor.Key() + ":" + o.Provider }

// ParseOwner reads what Key wrote; ok is false for anything else.
func ParseOwner(key string) (o Owner, ok bool) {
	parts := strings.SplitN(key, ":", 3)
	if len(parts) != 3 {
		return Owner{}, false
	}
	o = Owner{chat.Person(chat.TeamID(parts[0]), chat.UserID(parts[1])), parts[2]}
	return o, o.check() == nil
}

// ErrNobody: an owner is no whole person, or has no provider.
var ErrNobody = errors.New("its owner is not known")

func (o Owner) check() error {
	if !o.Actor.IsPerson() || !idForm.MatchString(string(o.Actor.Team)) || !idForm.MatchString(string(o.Actor.User)) || !providerForm.MatchString(o.Provider) {
		return ErrNobody
	}
	return nil
}

// Record is one connected account.
type Record struct {
	// Revision names this state of the record: every change gives it another one,
	// and no two are ever the same.
	Revision int64
	State    State

	Access, Refresh Secret
	// Expires is when Access does; zero: never, or it is not known.
	Expires time.Time
	// Connected is when the person has connected it.
	Connected time.Time
	// Scopes are granted, in the provider's words.
	Scopes []string
	// AccountID, AccountName and Email are the account's at its provider.
	AccountID, AccountName, Email string
	// Refused: the provider takes the account's tokens no more, and the person has
	// to connect it again. Told: he knows.
	Refused, Told bool
	// Extra is what else belongs to the account, such as an MCP server's resource
	// and client id, and Hidden what of that must not be shown.
	Extra  map[string]string
	Hidden map[string]Secret
}

// State is where a record stands. See the package comment.
type State string

const (
	Live State = "live"
	// Refreshing: some process asks the provider for new tokens.
	Refreshing State = "refreshing"
	// Broken: a process was to ask the provider for new tokens and has not come
	// back. Its refresh token may be spent, and must not be spent again.
	Broken State = "broken"
)

// Usable reports whether the account can be used at all, by what is known here.
func (r Record) Usable() bool { return r.State != Broken && !r.Refused && r.Access.IsSet() }

// Shown is what of a record stands in the clear, for lists.
type Shown struct {
	Scopes      []string  `json:"scopes,omitempty"`
	AccountID   string    `json:"account_id,omitempty"`
	AccountName string    `json:"account_name,omitempty"`
	Email       string    `json:"email,omitempty"`
	Connected   time.Time `json:"connected,omitzero"`
	Expires     time.Time `json:"expires,omitzero"`
	Refused     bool      `json:"refused,omitempty"`
}

func (r Record) shown() Shown {
	return Shown{r.Scopes, r.AccountID, r.AccountName, r.Email, r.Connected, r.Expires, r.Refused}
}

// sealedRecord is all of a record as it is sealed. What stands in the clear is in
// it too, so that whoever can write the store changes lists alone.
type sealedRecord struct {
	Revision int64             `json:"revision"`
	Access   string            `json:"access,omitempty"`
	Refresh  string            `json:"refresh,omitempty"`
	Told     bool              `json:"told,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`
	Hidden   map[string]string `json:"hidden,omitempty"`
	Shown
}

func (r Record) encode() ([]byte, error) {
	s := sealedRecord{r.Revision, r.Access.Reveal(), r.Refresh.Reveal(), r.Told, r.Extra, nil, r.shown()}
	for name, secret := range r.Hidden {
		if s.Hidden == nil {
			s.Hidden = map[string]string{}
		}
		s.Hidden[name] = secret.Reveal()
	}
	return json.Marshal(s)
}

// decodeRecord reads a record of a revision. What cannot be read is not told: it
// is full of secrets.
func decodeRecord(text []byte, revision int64) (Record, error) {
	var s sealedRecord
	if json.Unmarshal(text, &s) != nil {
		return Record{}, fmt.Errorf("read account: %w", ErrDamaged)
	}
	if s.Revision != revision {
		return Record{}, fmt.Errorf("read account: %w", ErrDamaged)
	}
	r := s.Shown.record()
	r.Revision, r.Access, r.Refresh, r.Told, r.Extra = s.Revision, NewSecret(s.Access), NewSecret(s.Refresh), s.Told, s.Extra
	for name, value := range s.Hidden {
		if r.Hidden == nil {
			r.Hidden = map[string]Secret{}
		}
		r.Hidden[name] = NewSecret(value)
	}
	return r, nil
}

// record is a record without its secrets.
func (s Shown) record() Record {
	return Record{
		Scopes: s.Scopes, AccountID: s.AccountID, AccountName: s.AccountName, Email: s.Email,
		Connected: s.Connected, Expires: s.Expires, Refused: s.Refused,
	}
}
