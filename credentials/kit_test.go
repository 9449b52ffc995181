package credentials

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.NoSync()) }

var (
	alice = Owner{chat.Person("T1", "UALICE"), "github"}
	bob   = Owner{chat.Person("T1", "UBOB"), "github"}
	noon  = time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC)
)

// The bytes that must be found nowhere.
const (
	canary  = "canary-access-4f9c1b"
	canary2 = "canary-refresh-77ae03"
	canary3 = "canary-hidden-c0ffee"
)

// keyOf is a key that a seed makes, as a setting.
func keyOf(version string, seed byte) string {
	return version + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{seed}, 32))
}

func ring(t testing.TB, setting string) *Keyring {
	t.Helper()
	r, err := ParseKeys(setting)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kit is a vault on a part of a real server.
type kit struct {
	*testing.T
	*Vault
	redis  redis.UniversalClient
	prefix string
}

func newKit(t *testing.T) *kit {
	space := redistest.Shared(t)
	client := space.Client()
	return &kit{t, NewVault(client, space.Prefix(), true, ring(t, keyOf("1", 'a'))), client, space.Prefix()}
}

// with is the same store with other keys.
func (k *kit) with(setting string) *Vault {
	return NewVault(k.redis, k.prefix, true, ring(k, setting))
}

func account(n int) Record {
	return Record{
		Access: NewSecret(fmt.Sprintf("%s-%d", canary, n)), Refresh: NewSecret(fmt.Sprintf("%s-%d", canary2, n)),
		Expires: noon.Add(time.Hour), Connected: noon, Scopes: []string{"repo", "read:org"},
		AccountID: "17", AccountName: "octocat", Email: "octo@example.com",
		Extra: map[string]string{"resource": "https://mcp.example.com"}, Hidden: map[string]Secret{"client_secret": NewSecret(canary3)},
	}
}

// put keeps an account.
func (k *kit) put(o Owner, r Record) Record {
	k.Helper()
	kept, _, _, err := k.connect(o, r)
	if err != nil {
		k.Fatal(err)
	}
	return kept
}

// connect keeps an account with a permit of its own.
func (k *kit) connect(o Owner, r Record) (kept, was Record, had bool, err error) {
	permit, err := k.Permit(k.Context(), o, time.Minute)
	if err != nil {
		return Record{}, Record{}, false, err
	}
	return k.Vault.Put(k.Context(), o, permit, r)
}

func (k *kit) get(o Owner) Record {
	k.Helper()
	r, err := k.Get(k.Context(), o)
	if err != nil {
		k.Fatal(err)
	}
	return r
}

// same reports whether two records say the same.
func same(a, b Record) bool {
	x, errX := a.encode()
	y, errY := b.encode()
	return errX == nil && errY == nil && bytes.Equal(x, y) && a.State == b.State
}
