package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// raw is a record as it is kept.
type raw struct {
	revision int64
	sealed   []byte
	shown    Shown
	state    State
}

func (v *Vault) read(ctx context.Context, o Owner) (raw, error) {
	if err := o.check(); err != nil {
		return raw{}, err
	}
	got, err := v.run(ctx, v.get, []string{v.account(o)})
	switch {
	case err != nil:
		return raw{}, err
	case len(got) != 4:
		return raw{}, ErrNone
	}
	r := raw{revision: number(got[0]), sealed: []byte(text(got[1])), state: State(text(got[3]))}
	_ = json.Unmarshal([]byte(text(got[2])), &r.shown) // it is for lists alone
	return r, nil
}

// open opens what was read. Where it cannot, the record has no secrets, and none of
// what it shows can be relied on.
func (v *Vault) open(ctx context.Context, o Owner, r raw) (Record, error) {
	shown := r.shown.record()
	shown.Revision, shown.State = r.revision, r.state
	b, err := v.binding(ctx, o, callTimeout)
	if err != nil {
		return shown, err
	}
	plain, err := v.ring.Open(b, r.sealed)
	if err != nil {
		return shown, err
	}
	record, err := decodeRecord(plain, r.revision)
	if err != nil {
		return shown, err
	}
	record.State = r.state
	return record, nil
}

// Get reads an account. ErrNone: there is none. An error of the keys (ErrNoKeys,
// ErrUnknownKey, ErrWrongKey) is the operator's to mend; ErrDamaged is mended by
// connecting the account again.
func (v *Vault) Get(ctx context.Context, o Owner) (Record, error) {
	r, err := v.read(ctx, o)
	if err == nil {
		var record Record
		if record, err = v.open(ctx, o, r); err == nil {
			return record, nil
		}
	}
	return Record{}, fmt.Errorf("get account %s: %w", o.Key(), err)
}

// Revision is the revision of an account, which is known without keys too. ErrNone:
// there is none.
func (v *Vault) Revision(ctx context.Context, o Owner) (int64, error) {
	r, err := v.read(ctx, o)
	if err != nil {
		return 0, fmt.Errorf("get account %s: %w", o.Key(), err)
	}
	return r.revision, nil
}

// Put keeps a newly connected account in place of whatever there was, and answers
// that, so that it can be ended at its provider. had is false when there was
// nothing; what could not be opened has no tokens. It spends a permit (Permit);
// ErrPermit: that is spent, perhaps by this very record, or was taken back.
func (v *Vault) Put(ctx context.Context, o Owner, permit string, record Record) (kept, replaced Record, had bool, err error) {
	fail := func(err error) (Record, Record, bool, error) {
		return Record{}, Record{}, false, fmt.Errorf("put account %s: %w", o.Key(), err)
	}
	for end := time.Now().Add(callTimeout); time.Now().Before(end); {
		was, err := v.read(ctx, o)
		switch {
		case errors.Is(err, ErrNone):
			replaced, had = Record{}, false
		case err != nil:
			return fail(err)
		default:
			had = true
			replaced, _ = v.open(ctx, o, was)
		}
		kept, err := v.keep(ctx, o, was.revision, record, "put", permit)
		if err == nil {
			return kept, replaced, had, nil
		}
		if !errors.Is(err, ErrChanged) {
			return fail(err)
		}
	}
	return fail(ErrChanged)
}

// Swap keeps another state of an account, if it still is in the state that was
// read, and answers it with its new revision. ErrChanged: it is not. ErrBusy:
// somebody renews its tokens, and his change comes first. ErrBroken: somebody has
// begun to and has not come back; only a state that says Refused replaces that.
func (v *Vault) Swap(ctx context.Context, o Owner, revision int64, record Record) (Record, error) {
	kept, err := v.keep(ctx, o, revision, record, "swap", "")
	if err != nil {
		return Record{}, fmt.Errorf("swap account %s: %w", o.Key(), err)
	}
	return kept, nil
}

// keep writes a state of a record over that of a revision; 0: over none. right is
// the permit or the intent by which it may.
func (v *Vault) keep(ctx context.Context, o Owner, over int64, record Record, how, right string) (Record, error) {
	if err := o.check(); err != nil {
		return Record{}, err
	}
	if over == 0 && how != "put" {
		return Record{}, ErrNone
	}
	limit := callTimeout
	if how == "settle" {
		limit = settleTimeout
	}
	b, err := v.binding(ctx, o, limit)
	if err != nil {
		return Record{}, err
	}
	record.Revision, record.State = revision(), Live
	plain, err := record.encode()
	if err != nil {
		return Record{}, errors.New("it cannot be written as JSON") // the error may quote it
	}
	sealed, err := v.ring.Seal(b, plain)
	if err != nil {
		return Record{}, err
	}
	shown, err := json.Marshal(record.shown())
	if err != nil {
		return Record{}, err
	}
	refused := "0"
	if record.Refused {
		refused = "1"
	}
	got, err := v.runFor(ctx, limit, v.write, v.accountKeys(o),
		o.Key(), readAs(over), record.Revision, sealed, shown, how, right, refused)
	if err == nil {
		err = outcome(got)
	}
	return record, err
}

// readAs is a revision as scripts take it; none is empty.
func readAs(revision int64) string {
	if revision == 0 {
		return ""
	}
	return strconv.FormatInt(revision, 10)
}

// outcome is what a step on a record answers.
func outcome(got []any) error {
	if len(got) == 0 {
		return ErrNone
	}
	switch number(got[0]) {
	case 1:
		return nil
	case 2:
		return ErrBusy
	case 3:
		return ErrBroken
	case 4:
		return ErrPermit
	}
	return ErrChanged
}

// Delete takes an account out, whatever its state, with every permit to put another
// one, and answers what it was, so that it can be ended at its provider. What could
// not be opened has no tokens. ErrNone: there was none.
func (v *Vault) Delete(ctx context.Context, o Owner) (Record, error) {
	fail := func(err error) (Record, error) {
		return Record{}, fmt.Errorf("delete account %s: %w", o.Key(), err)
	}
	for end := time.Now().Add(callTimeout); time.Now().Before(end); {
		was, err := v.read(ctx, o)
		record := Record{}
		switch {
		case err == nil:
			record, _ = v.open(ctx, o, was)
		case !errors.Is(err, ErrNone):
			return fail(err)
		}
		got, err := v.run(ctx, v.remove, v.accountKeys(o), o.Key(), readAs(was.revision))
		if err == nil {
			err = outcome(got)
		}
		switch {
		case err == nil:
			return record, nil
		case !errors.Is(err, ErrChanged):
			return fail(err)
		case was.revision == 0:
			continue
		}
		// Its own answer may have been lost: then it is gone.
		if _, err := v.read(ctx, o); errors.Is(err, ErrNone) {
			return record, nil
		}
	}
	return fail(ErrChanged)
}
