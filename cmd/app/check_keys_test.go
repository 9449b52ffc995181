package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"reeve/credentials"
)

func TestCheckSaysWhetherTheKeysFit(t *testing.T) {
	key := "2:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{'k'}, 32))
	use := func(version string, known bool, accounts int) credentials.KeyUse {
		return credentials.KeyUse{KeyVersion: credentials.KeyVersion{Version: version}, Known: known, Accounts: accounts}
	}
	for _, c := range []struct {
		keys, url string
		uses      []credentials.KeyUse
		err       error
		want      string
	}{
		{"", "", nil, nil, "CREDENTIAL_KEYS: ok: not set: nobody can connect an account"},
		{key, "", nil, nil, "CREDENTIAL_KEYS: ok: version 2 seals"},
		{key, "redis://h", []credentials.KeyUse{use("2", true, 7)}, nil, "CREDENTIAL_KEYS: ok: version 2 seals; 7 accounts are connected, and there is a key for each"},
		{key, "redis://h", []credentials.KeyUse{use("2", true, 7), use("1", false, 3), use("", false, 1)}, nil, "CREDENTIAL_KEYS: warning: 4 of 11 accounts are sealed with keys that are not there: version 1, (damaged); fix: "},
		{"", "redis://h", []credentials.KeyUse{use("1", false, 3)}, nil, "CREDENTIAL_KEYS: warning: 3 of 3 accounts"},
		{key, "redis://h", nil, errors.New("it is away"), "CREDENTIAL_KEYS: cannot be reached: what they are to open cannot be looked at: it is away; fix: "},
		{"", "redis://h", nil, errors.New("it is away"), "CREDENTIAL_KEYS: ok: not set"},
		{key, "redis://h", nil, &credentials.KeyError{Problems: []credentials.KeyProblem{{What: "that key", Fix: "this"}, {What: "and this", Fix: "that"}}}, "CREDENTIAL_KEYS: wrong: that key; fix: this\nCREDENTIAL_KEYS: wrong: and this; fix: that"},
	} {
		s := Settings{RedisURL: c.url, CredentialKeys: NewSecret(c.keys)}
		var lines []string
		for _, f := range checkKeys(t.Context(), s, func(context.Context, Settings) ([]credentials.KeyUse, error) { return c.uses, c.err }) {
			lines = append(lines, f.String())
		}
		if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, c.want) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
