package app

import (
	"fmt"
	"strings"

	"reeve/credentials"
)

type keysCommand struct {
	Do   string `arg:"" optional:"" enum:"list,rotate" default:"list" help:"list (the default), or rotate (seal with the first key whatever is sealed with another)."`
	JSON bool   `name:"json" help:"Print JSON."`
}

func (c keysCommand) Run(p *process) error {
	return operate(p, c.JSON, func(r report) error {
		vault := vaultOf(r.box, r.settings)
		if c.Do == "rotate" {
			return r.rotate(vault)
		}
		return r.keys(vault)
	})
}

// keys prints which keys there are, how much is sealed with each, and who has them.
func (r report) keys(vault *credentials.Vault) error {
	uses, err := vault.KeyUses(r.p.ctx)
	if err != nil {
		return err
	}
	replicas, err := vault.Replicas(r.p.ctx)
	if err != nil {
		return err
	}
	problem := vault.Verify(r.p.ctx)
	if vault.Keyring() == nil {
		problem = nil
	}
	if r.json {
		out := struct {
			Keys     []credentials.KeyUse  `json:"keys"`
			Replicas []credentials.Replica `json:"replicas"`
			Problem  string                `json:"problem,omitempty"`
		}{items(uses), items(replicas), ""}
		if problem != nil {
			out.Problem = problem.Error()
		}
		return r.asJSON(out)
	}
	var rows [][]string
	for _, u := range uses {
		use := "opens"
		switch {
		case u.First:
			use = "seals"
		case !u.Known:
			use = "missing: what it sealed cannot be opened"
		}
		rows = append(rows, []string{shownVersion(u.Version), u.Fingerprint, fmt.Sprint(u.Accounts), fmt.Sprint(u.Flows), use})
	}
	r.table("CREDENTIAL_KEYS is not set, and no account is connected", []string{"VERSION", "FINGERPRINT", "ACCOUNTS", "CONNECTING", "USE"}, rows)
	_, _ = fmt.Fprintln(r.out)
	rows = nil
	for _, replica := range replicas {
		var has []string
		for _, k := range replica.Keys {
			has = append(has, k.Version+" ("+k.Fingerprint+")")
		}
		rows = append(rows, []string{replica.Name, strings.Join(has, ", ")})
	}
	r.table("no replica with keys is running", []string{"REPLICA", "ITS KEYS, THE FIRST SEALS"}, rows)
	return problem
}

func shownVersion(version string) string {
	if version == "" {
		return "(damaged)"
	}
	return version
}

// rotate seals everything with the first key.
func (r report) rotate(vault *credentials.Vault) error {
	if vault.Keyring() == nil {
		return &ConfigError{[]string{"CREDENTIAL_KEYS is not set; it may be " + mayBe("CREDENTIAL_KEYS")}}
	}
	done, err := vault.Rotate(r.p.ctx, nil)
	done.Failed, done.Behind = items(done.Failed), items(done.Behind)
	if r.json {
		if printErr := r.asJSON(done); printErr != nil {
			return printErr
		}
	} else if done.To != "" {
		_, _ = fmt.Fprintf(r.out, "sealed with key version %s: %d accounts now, %d before; %d connections under way\n", done.To, done.Rewrapped, done.Already, done.Flows)
		for _, f := range done.Failed {
			_, _ = fmt.Fprintf(r.out, "left as it is: %s: %s\n", f.Name, f.Why)
		}
		for _, name := range done.Behind {
			_, _ = fmt.Fprintf(r.out, "replica %s still seals with another key: start it with version %s as its first one, and rotate again\n", name, done.To)
		}
	}
	switch {
	case err != nil:
		return err
	case len(done.Failed) > 0:
		return fmt.Errorf("%d accounts could not be opened: give CREDENTIAL_KEYS the key that they name and rotate again, or have their owners connect them anew", len(done.Failed))
	case !r.json && len(done.Behind) == 0:
		_, _ = fmt.Fprintln(r.out, "no account needs another key any more")
	}
	return nil
}

// mayBe says what a setting may be.
func mayBe(name string) string {
	for _, s := range settingsList() {
		if s.Name == name {
			return s.MayBe()
		}
	}
	return ""
}
