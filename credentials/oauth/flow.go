package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"reeve/credentials"
	"reeve/runtime/chat"
)

// flow is one connection that is under way, from the moment at which somebody is
// asked until he was told that it is made. All of it is sealed; each step of it
// replaces the state that it has read, so that of two processes one does it.
//
//	open ──> pending ──> proven ──> stored ──> over
//	 │ ▲ (code flow: a token, and the code that proves the browser)
//	 │ └── lapsed   (device flow: its code is over; a new one opens it again)
//	 └────> checking ──┘
//	     (device flow: a token, whose account is looked at)
type flow struct {
	Stage stage    `json:"stage"`
	Asked []string `json:"asked,omitempty"` // what a call needs
	// The wait that ends with it; none: the person has begun by himself.
	Conversation chat.Conversation `json:"conversation,omitzero"`
	Turn         chat.TurnID       `json:"turn,omitempty"`
	Wait         string            `json:"wait,omitempty"`
	// Until is when nothing new begins, and Next when somebody should look.
	Until time.Time `json:"until"`
	Next  time.Time `json:"next"`

	// Of the code flow: one attempt in one browser. State and Browser are hashes.
	Openings   int       `json:"openings,omitempty"`
	State      string    `json:"state,omitempty"`
	StateUntil time.Time `json:"state_until,omitzero"`
	Browser    string    `json:"browser,omitempty"`
	Verifier   string    `json:"verifier,omitempty"`
	Code       string    `json:"code,omitempty"`
	Tries      int       `json:"tries,omitempty"`

	// Of the device flow.
	Device    string    `json:"device,omitempty"`
	Interval  int       `json:"interval,omitempty"` // seconds
	CodeUntil time.Time `json:"code_until,omitzero"`

	// Permit is the right to put the account, once, and Proof what proves that it is
	// its person's.
	Permit string `json:"permit,omitempty"`
	Proof  string `json:"proof,omitempty"`

	// The token, until it is stored.
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Granted []string  `json:"granted,omitempty"`
	// Whose it is.
	AccountID   string `json:"account_id,omitempty"`
	AccountName string `json:"account_name,omitempty"`
	Email       string `json:"email,omitempty"`

	kept credentials.Flow
}

type stage string

const (
	stageOpen     stage = "open"
	stageLapsed   stage = "lapsed"
	stagePending  stage = "pending"
	stageChecking stage = "checking"
	stageProven   stage = "proven"
	stageStored   stage = "stored"
	stageOver     stage = "over"
)

const (
	// stateTime is how long one attempt in a browser may take, and codeTime how
	// long its code can be entered.
	stateTime = 10 * time.Minute
	codeTime  = 10 * time.Minute
	// maxOpenings bounds how often a link is used, or a code asked for, and maxTries how often a code is
	// guessed at.
	maxOpenings = 30
	maxTries    = 5
	// afterTime is how long a flow outlives its time, to be finished.
	afterTime = 24 * time.Hour
	// claimTime is how long a process may take for one step.
	claimTime = 90 * time.Second
)

// errNoFlow: there is none, or its time is over.
var errNoFlow = errors.New("this connection is not under way any more")

func flowName(id string) string  { return "connect:" + id }
func linkName(id string) string  { return "link:" + id }
func stateName(id string) string { return "state:" + id }

// add keeps a new flow.
func (s *Service) add(ctx context.Context, id string, owner credentials.Owner, f flow) (flow, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return flow{}, errors.New("write flow: it cannot be written as JSON")
	}
	// The list first: a flow that is not on it would be forgotten, and an entry
	// without a flow harms nobody.
	if err := s.o.Vault.Remind(ctx, id, f.Next); err != nil {
		return flow{}, err
	}
	f.kept, err = s.o.Vault.AddFlow(ctx, flowName(id), owner, text, f.Until.Sub(s.o.Now())+afterTime)
	return f, err
}

// load reads a flow.
func (s *Service) load(ctx context.Context, id string) (flow, error) {
	kept, err := s.o.Vault.Flow(ctx, flowName(id))
	if errors.Is(err, credentials.ErrNone) {
		return flow{}, errNoFlow
	}
	if err != nil {
		return flow{}, err
	}
	f := flow{}
	if json.Unmarshal(kept.Value, &f) != nil {
		return flow{}, fmt.Errorf("read flow: %w", credentials.ErrDamaged)
	}
	f.kept = kept
	return f, nil
}

// save replaces the state that was read.
func (s *Service) save(ctx context.Context, f flow) (flow, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return f, errors.New("write flow: it cannot be written as JSON")
	}
	kept, err := s.o.Vault.SwapFlow(ctx, f.kept, text)
	if err != nil {
		return f, err
	}
	f.kept = kept
	// It is on the list since it began; where that cannot be changed, it is looked
	// at when that says so.
	if err := s.o.Vault.Remind(ctx, f.id(), f.Next); err != nil {
		s.o.Log.Warn("a reminder could not be moved", "error", err)
	}
	return f, nil
}

// close ends a flow: nothing is done about it any more.
func (s *Service) close(ctx context.Context, f flow) (flow, error) {
	f = f.without()
	f.Stage = stageOver
	text, _ := json.Marshal(f)
	kept, err := s.o.Vault.SwapFlow(ctx, f.kept, text)
	if err != nil {
		return f, err
	}
	f.kept = kept
	return f, s.o.Vault.Unremind(ctx, f.id())
}

// begun reports whether a flow's person can still go on with it, and nothing is
// proved yet.
func (f flow) begun() bool {
	return f.Stage == stageOpen || f.Stage == stageLapsed || f.Stage == stagePending
}

func (f flow) id() string               { return f.kept.ID[len("connect:"):] }
func (f flow) owner() credentials.Owner { return f.kept.Owner }
func (f flow) actor() chat.Actor        { return f.kept.Owner.Actor }

// without is a flow without its secrets.
func (f flow) without() flow {
	f.State, f.Browser, f.Verifier, f.Code, f.Device, f.Access, f.Refresh = "", "", "", "", "", "", ""
	return f
}

// permit gets the right to put the flow's account, which a disconnection from then
// on takes back.
func (s *Service) permit(ctx context.Context, owner credentials.Owner, f flow) (flow, error) {
	var err error
	f.Permit, err = s.o.Vault.Permit(ctx, owner, f.Until.Sub(s.o.Now())+afterTime)
	return f, err
}

// record is the account that a flow has proved.
func (f flow) record() credentials.Record {
	return credentials.Record{
		Access: credentials.NewSecret(f.Access), Refresh: credentials.NewSecret(f.Refresh), Expires: f.Expires,
		Scopes: f.Granted, AccountID: f.AccountID, AccountName: f.AccountName, Email: f.Email,
		Extra: map[string]string{connectedBy: f.id()},
	}
}

// connectedBy says in a record by which flow it was connected.
const connectedBy = "flow"

func (f *flow) take(t token, a account) {
	f.Access, f.Refresh, f.Expires, f.Granted = t.access.Reveal(), t.refresh.Reveal(), t.expires, t.scopes
	f.AccountID, f.AccountName, f.Email = a.id, a.name, a.email
}

// drop gives a token back that nobody will use. That it could not be given back
// is logged: it ends by itself, if ever.
func (s *Service) drop(ctx context.Context, c Configured, access, refresh credentials.Secret) {
	if !access.IsSet() && !refresh.IsSet() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	soon(func() {
		ctx, cancel := context.WithTimeout(ctx, 2*wireTime)
		defer cancel()
		if _, err := s.wire.revokeAll(ctx, c, access, refresh); err != nil {
			s.o.Log.Warn("a token could not be revoked", "provider", c.Name, "error", err)
		}
	})
}

// patience is how long somebody in Slack or before a browser is let wait for what
// goes on without him.
const patience = 1500 * time.Millisecond

// soon does something and waits for it for a while. done is false when it goes on.
func soon(work func()) (done bool) {
	end := make(chan struct{})
	go func() {
		defer close(end)
		work()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-end:
		return true
	case <-timer.C:
		return false
	}
}

func (s *Service) dropOf(ctx context.Context, f flow) {
	if c, ok := s.provider(f.owner().Provider); ok && c.owns(f.AccountID) {
		s.drop(ctx, c, credentials.NewSecret(f.Access), credentials.NewSecret(f.Refresh))
	}
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// equal compares secrets in a time that tells nothing.
func equal(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
