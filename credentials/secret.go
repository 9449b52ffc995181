package credentials

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// mask stands wherever a secret would.
const mask = "***"

// Secret is a token, or something else that must not be shown. It prints as a
// mask in every format; only Reveal gives the value. The value stands behind a
// pointer because fmt does not ask methods about the unexported fields of a
// struct: a bare string there would be printed. It is written as a mask and
// cannot be read back, so that no secret is kept by accident: Vault seals it.
type Secret struct{ value *string }

// NewSecret hides a value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal is the value itself, to be handed to the one client that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != nil }

// Equal reports whether two secrets have the same value.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return mask
}

// GoString is for what formats a value without a verb.
func (s Secret) GoString() string { return s.String() }

// Format answers every verb of fmt, %#v and %x among them, with the mask.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, s.String()) }

// MarshalText is the mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON is the mask.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue is the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
