package credentials

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"reeve/runtime/chat"
)

// Why something sealed cannot be opened. Nothing is ever rewritten for it.
var (
	// ErrNoKeys: there are no keys at all.
	ErrNoKeys = errors.New("CREDENTIAL_KEYS is not set, and people's accounts are sealed with it")
	// ErrUnknownKey: it was sealed with a version that is not among the keys.
	ErrUnknownKey = errors.New("it is sealed with a key version that CREDENTIAL_KEYS does not have")
	// ErrWrongKey: there is a key of that version, but it is another one.
	ErrWrongKey = errors.New("it is sealed with another key than CREDENTIAL_KEYS has under that version")
	// ErrDamaged: it was changed, or sealed for somebody or something else.
	ErrDamaged = errors.New("it was changed since it was sealed, or was sealed for somebody or something else")
)

// Binding says what something is sealed for. Both layers of its seal are bound to
// all of it: sealed for one person, provider, purpose or deployment, it cannot be
// opened for another.
type Binding struct {
	Purpose    Purpose
	Deployment string
	Team       chat.TeamID
	User       chat.UserID
	Provider   string
	// Name is of one among several things of the same owner.
	Name string
}

// Purpose says what kind of thing is sealed.
type Purpose string

const (
	accountPurpose Purpose = "account"
	flowPurpose    Purpose = "flow"
	checkPurpose   Purpose = "check"
)

// What is sealed begins with a head in the clear, which names the key:
//
//	format (1 byte), length of the version (1), version, fingerprint (8)
//
// Behind it stands a fresh data key, sealed with that key (12 + 32 + 16 bytes), and
// then the text, sealed with the data key. The data key's seal is bound to the head
// too; the text's is not, so that a new key needs only a new head and data key.
const format = 1

const wrappedSize = 12 + keySize + 16

// Seal seals a text with the first key.
func (r *Keyring) Seal(b Binding, text []byte) ([]byte, error) {
	if r == nil || len(r.keys) == 0 {
		return nil, fmt.Errorf("seal %s: %w", b.Purpose, ErrNoKeys)
	}
	return r.keys[0].seal(b, text), nil
}

func (k *key) seal(b Binding, text []byte) []byte {
	dataKey := make([]byte, keySize)
	_, _ = rand.Read(dataKey) // it does not fail: see its documentation
	return append(k.wrap(b, dataKey), newAEAD(dataKey).Seal(nil, nil, text, b.bytes("text", nil))...)
}

// Open opens what Seal has sealed for the same binding.
func (r *Keyring) Open(b Binding, sealed []byte) ([]byte, error) {
	_, _, text, err := r.open(b, sealed)
	return text, err
}

// Rewrap seals with the first key what is sealed with another. It opens all of it
// first. changed is false when it was the first key already.
func (r *Keyring) Rewrap(b Binding, sealed []byte) (rewrapped []byte, changed bool, err error) {
	dataKey, rest, _, err := r.open(b, sealed)
	if err != nil {
		return nil, false, err
	}
	if h, _ := readHead(sealed); h.version == r.keys[0].version {
		return sealed, false, nil
	}
	return append(r.keys[0].wrap(b, dataKey), rest...), true, nil
}

func (r *Keyring) open(b Binding, sealed []byte) (dataKey, rest, text []byte, err error) {
	fail := func(err error) ([]byte, []byte, []byte, error) {
		return nil, nil, nil, fmt.Errorf("open %s: %w", b.Purpose, err)
	}
	if r == nil || len(r.keys) == 0 {
		return fail(ErrNoKeys)
	}
	h, ok := readHead(sealed)
	if !ok {
		return fail(ErrDamaged)
	}
	k := r.find(h.version)
	switch {
	case k == nil:
		return fail(fmt.Errorf("%w (version %s)", ErrUnknownKey, h.version))
	case k.fingerprint != h.fingerprint:
		return fail(fmt.Errorf("%w (version %s)", ErrWrongKey, h.version))
	}
	wrapped, rest := sealed[h.size:h.size+wrappedSize], sealed[h.size+wrappedSize:]
	dataKey, err = k.aead.Open(nil, nil, wrapped, b.bytes("key", sealed[:h.size]))
	if err != nil {
		return fail(ErrDamaged)
	}
	text, err = newAEAD(dataKey).Open(nil, nil, rest, b.bytes("text", nil))
	if err != nil {
		return fail(ErrDamaged)
	}
	return dataKey, rest, text, nil
}

// wrap is a head and a data key that is sealed with the key.
func (k *key) wrap(b Binding, dataKey []byte) []byte {
	head := slices.Concat([]byte{format, byte(len(k.version))}, []byte(k.version), k.fingerprint[:])
	return append(head, k.aead.Seal(nil, nil, dataKey, b.bytes("key", head))...)
}

// head is what stands in the clear in front of what is sealed.
type head struct {
	version     string
	fingerprint [fingerprintSize]byte
	size        int
}

func readHead(sealed []byte) (h head, ok bool) {
	if len(sealed) < 2 || sealed[0] != format {
		return h, false
	}
	h.size = 2 + int(sealed[1]) + fingerprintSize
	if len(sealed) < h.size+wrappedSize {
		return h, false
	}
	h.version = string(sealed[2 : 2+int(sealed[1])])
	copy(h.fingerprint[:], sealed[2+int(sealed[1]):])
	return h, versionForm.MatchString(h.version)
}

// sealedWith is the version of the key that something is sealed with; empty: it
// cannot be told.
func sealedWith(sealed []byte) string {
	h, ok := readHead(sealed)
	if !ok {
		return ""
	}
	return h.version
}

// bytes is the binding of one layer. Each part is preceded by its length, so that
// no two bindings have the same bytes.
func (b Binding) bytes(layer string, head []byte) []byte {
	out := []byte{format}
	for _, part := range []string{"reeve credentials", layer, string(b.Purpose), b.Deployment, string(b.Team), string(b.User), b.Provider, b.Name, string(head)} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return out
}
