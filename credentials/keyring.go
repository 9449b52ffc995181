package credentials

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Keyring holds the keys that seal, by version. The first one seals; the others
// only open, until every record is sealed with the first (see Vault.Rotate).
type Keyring struct{ keys []key }

type key struct {
	version     string
	fingerprint [fingerprintSize]byte
	aead        cipher.AEAD
}

// KeyVersion names a key without telling it.
type KeyVersion struct {
	Version string `json:"version"`
	// Fingerprint tells two keys of the same version apart.
	Fingerprint string `json:"fingerprint"`
}

const (
	keySize         = 32
	fingerprintSize = 8
)

var versionForm = regexp.MustCompile(`^[A-Za-z0-9_]{1,16}$`)

// ParseKeys reads "VERSION:KEY,VERSION:KEY": a version is 1 to 16 letters, digits
// and "_", a key 32 bytes in base64. The error names an entry by its place, and
// shows nothing of what was written: it may be a key in the wrong place.
func ParseKeys(setting string) (*Keyring, error) {
	ring := &Keyring{}
	for i, entry := range strings.Split(setting, ",") {
		at := fmt.Sprintf("parse credential keys: entry %d", i+1)
		version, encoded, found := strings.Cut(strings.TrimSpace(entry), ":")
		switch {
		case version == "" && encoded == "":
			return nil, fmt.Errorf("%s is empty", at)
		case !found:
			return nil, fmt.Errorf("%s has no version: it reads VERSION:KEY, such as 1:KEY", at)
		case !versionForm.MatchString(version):
			return nil, fmt.Errorf("%s has a version that is none: it may be 1 to 16 letters, digits and _", at)
		case ring.find(version) != nil:
			return nil, fmt.Errorf("%s has the version of an earlier one", at)
		}
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("%s has a key that is not in base64", at)
		}
		if len(raw) != keySize {
			return nil, fmt.Errorf("%s has a key of %d bytes; it may be one of %d (openssl rand -base64 32)", at, len(raw), keySize)
		}
		ring.keys = append(ring.keys, newKey(version, raw))
	}
	return ring, nil
}

func newKey(version string, raw []byte) key {
	k := key{version: version, aead: newAEAD(raw)}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte("reeve credential key fingerprint"))
	copy(k.fingerprint[:], mac.Sum(nil))
	return k
}

// newAEAD is AES-256-GCM that puts a random nonce in front of what it seals.
func newAEAD(raw []byte) cipher.AEAD {
	block, err := aes.NewCipher(raw)
	if err != nil {
		panic(err) // the size of every key was checked
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return aead
}

func (r *Keyring) find(version string) *key {
	for i := range r.keys {
		if r.keys[i].version == version {
			return &r.keys[i]
		}
	}
	return nil
}

// Versions are the keys, the one that seals first.
func (r *Keyring) Versions() []KeyVersion {
	if r == nil {
		return nil
	}
	var all []KeyVersion
	for _, k := range r.keys {
		all = append(all, KeyVersion{k.version, hex.EncodeToString(k.fingerprint[:])})
	}
	return all
}

// Format tells of the versions alone, whatever the verb.
func (r *Keyring) Format(state fmt.State, _ rune) {
	var names []string
	for _, v := range r.Versions() {
		names = append(names, v.Version)
	}
	_, _ = io.WriteString(state, "keys("+strings.Join(names, ",")+")")
}
