package credentials

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var sealedFor = Binding{Purpose: accountPurpose, Deployment: "reeve/d1", Team: "T1", User: "UALICE", Provider: "github", Name: "n"}

func TestWhatIsSealedOpensForItsBindingAlone(t *testing.T) {
	r := ring(t, keyOf("1", 'a'))
	sealed, err := r.Seal(sealedFor, []byte(canary))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Open(sealedFor, sealed); err != nil || string(got) != canary {
		t.Fatalf("%q %v", got, err)
	}
	for name, change := range map[string]func(*Binding){
		"another person":     func(b *Binding) { b.User = "UBOB" },
		"another team":       func(b *Binding) { b.Team = "T2" },
		"another provider":   func(b *Binding) { b.Provider = "google" },
		"another deployment": func(b *Binding) { b.Deployment = "reeve/d2" },
		"another purpose":    func(b *Binding) { b.Purpose = flowPurpose },
		"another name":       func(b *Binding) { b.Name = "m" },
		"a shifted border":   func(b *Binding) { b.User, b.Provider = "UALICEg", "ithub" },
		"nobody":             func(b *Binding) { *b = Binding{} },
	} {
		b := sealedFor
		change(&b)
		if _, err := r.Open(b, sealed); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := ring(t, keyOf("2", 'b')+","+keyOf("1", 'a')).Rewrap(b, sealed); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s, sealed anew: %v", name, err)
		}
	}
}

// Each layer is bound by itself: whoever has a data key of another record, or its
// text, cannot put them together.
func TestLayersOfTwoRecordsDoNotMix(t *testing.T) {
	r := ring(t, keyOf("1", 'a'))
	other := sealedFor
	other.User = "UBOB"
	a, _ := r.Seal(sealedFor, []byte(canary))
	b, _ := r.Seal(other, []byte(canary))
	cut := 2 + 1 + fingerprintSize + wrappedSize
	for _, mixed := range [][]byte{append(bytes.Clone(a[:cut]), b[cut:]...), append(bytes.Clone(b[:cut]), a[cut:]...)} {
		for _, binding := range []Binding{sealedFor, other} {
			if _, err := r.Open(binding, mixed); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v", err)
			}
		}
	}
}

func TestEveryChangedByteIsRefused(t *testing.T) {
	r := ring(t, keyOf("1", 'a'))
	two := ring(t, keyOf("2", 'b')+","+keyOf("1", 'a'))
	sealed, _ := r.Seal(sealedFor, []byte(canary))
	for i := range sealed {
		for bit := range 8 {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1 << bit
			if got, err := r.Open(sealedFor, changed); err == nil {
				t.Fatalf("byte %d, bit %d: opened as %q", i, bit, got)
			}
			if _, _, err := two.Rewrap(sealedFor, changed); err == nil {
				t.Fatalf("byte %d, bit %d: sealed anew", i, bit)
			}
		}
	}
	for n := range sealed {
		if _, err := r.Open(sealedFor, sealed[:n]); err == nil {
			t.Fatalf("the first %d bytes are opened", n)
		}
	}
	if _, err := r.Open(sealedFor, append(bytes.Clone(sealed), 0)); err == nil {
		t.Error("a byte more is opened")
	}
}

func TestKeysThatCannotOpenSaySo(t *testing.T) {
	sealed, _ := ring(t, keyOf("1", 'a')).Seal(sealedFor, []byte(canary))
	for setting, want := range map[string]error{keyOf("2", 'a'): ErrUnknownKey, keyOf("1", 'b'): ErrWrongKey} {
		_, err := ring(t, setting).Open(sealedFor, sealed)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "CREDENTIAL_KEYS") || !strings.Contains(err.Error(), "version 1") {
			t.Errorf("%v", err)
		}
	}
	var none *Keyring
	if _, err := none.Open(sealedFor, sealed); !errors.Is(err, ErrNoKeys) {
		t.Error(err)
	}
	if _, err := none.Seal(sealedFor, nil); !errors.Is(err, ErrNoKeys) {
		t.Error(err)
	}
}

func TestRewrapNeedsTheFirstKeyAloneAfterwards(t *testing.T) {
	sealed, _ := ring(t, keyOf("1", 'a')).Seal(sealedFor, []byte(canary))
	both := ring(t, keyOf("2", 'b')+","+keyOf("1", 'a'))
	again, changed, err := both.Rewrap(sealedFor, sealed)
	if err != nil || !changed || sealedWith(again) != "2" {
		t.Fatal(changed, err)
	}
	if got, err := ring(t, keyOf("2", 'b')).Open(sealedFor, again); err != nil || string(got) != canary {
		t.Errorf("%q %v", got, err)
	}
	if _, changed, err = both.Rewrap(sealedFor, again); changed || err != nil {
		t.Error("it was sealed anew twice", err)
	}
}

// The same text is sealed with a data key of its own each time.
func TestNoTwoSealsAreAlike(t *testing.T) {
	r := ring(t, keyOf("1", 'a'))
	a, _ := r.Seal(sealedFor, []byte(canary))
	b, _ := r.Seal(sealedFor, []byte(canary))
	head := 2 + 1 + fingerprintSize
	if bytes.Equal(a[head:head+wrappedSize], b[head:head+wrappedSize]) || bytes.Equal(a[head+wrappedSize:], b[head+wrappedSize:]) {
		t.Error("two seals have a part in common")
	}
}

func TestKeysAreReadOrRefusedWithoutBeingShown(t *testing.T) {
	r := ring(t, " 2024_b:"+strings.TrimPrefix(keyOf("x", 'b'), "x:")+" ,"+keyOf("1", 'a'))
	if v := r.Versions(); len(v) != 2 || v[0].Version != "2024_b" || v[1].Version != "1" || v[0].Fingerprint == v[1].Fingerprint || len(v[0].Fingerprint) != 16 {
		t.Errorf("%v", v)
	}
	secret := strings.TrimPrefix(keyOf("1", 'k'), "1:")
	short := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{'k'}, 31))
	for _, setting := range []string{"", ",", secret, ":" + secret, "1:", "1", "1:" + secret + ",", "1:" + secret + ",1:" + secret,
		"1:" + secret[:20], "1:" + short, secret + ":1", "1:" + secret + "x", "1 2:" + secret, "1:%" + secret[1:], strings.Repeat("v", 17) + ":" + secret} {
		_, err := ParseKeys(setting)
		if err == nil {
			t.Errorf("%q is taken", setting)
			continue
		}
		if strings.Contains(err.Error(), secret[:8]) || !strings.Contains(err.Error(), "entry ") {
			t.Errorf("%q: %v", setting, err)
		}
	}
	raw := bytes.Repeat([]byte{'k'}, 32)
	held := ring(t, "1:"+secret)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		for _, value := range []any{held, struct{ R *Keyring }{held}, []*Keyring{held}} {
			if got := fmt.Sprintf(verb, value); strings.Contains(got, string(raw)) || strings.Contains(got, secret) || strings.Contains(got, fmt.Sprintf("%x", raw[:8])) || strings.Contains(got, "107 107") {
				t.Errorf("%s shows the key: %s", verb, got)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	r := ring(f, keyOf("1", 'a'))
	sealed, _ := r.Seal(sealedFor, []byte(canary))
	// What was sealed opens; each process of a fuzz run seals otherwise, so that it
	// is no seed itself.
	if got, err := r.Open(sealedFor, sealed); err != nil || string(got) != canary {
		f.Fatalf("opened as %q, %v", got, err)
	}
	f.Add(append([]byte{sealed[0] ^ 1}, sealed[1:]...))
	f.Add(sealed[:20])
	f.Fuzz(func(t *testing.T, input []byte) {
		if got, err := r.Open(sealedFor, input); err == nil {
			t.Errorf("opened %x as %q", input, got)
		}
	})
}
