package golden

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest/shipped"
	"reeve/slackapp/simulator"
)

// reeve check against a workspace, a store and a provider that are there.
func TestCheck(t *testing.T) {
	p := newPlace(t, nil)
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		switch {
		case r.Authorization == "Bearer sk-wrong-key":
			return scripted.Step{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-wrong-key","code":"invalid_api_key"}}`}
		case r.Model != "scripted":
			return scripted.Step{Status: 404, Body: `{"error":{"message":"no such model","code":"model_not_found"}}`}
		}
		return scripted.Answer("ok")
	})
	few := simulator.ForTest(t, simulator.Options{Scopes: []string{"chat:write", "app_mentions:read"}})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/check",
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, p.Env...)
			env.Setenv("FEW_SCOPES_URL", few.APIURL())
			env.Setenv("PATH", filepath.Dir(shipped.Binary(t))+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits CODE COMMAND... runs a command that must end with the exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	code := "0"
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		code = strconv.Itoa(exit.ExitCode())
	case err != nil:
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if code != args[0] {
		ts.Fatalf("%v ended with exit code %s, want %s", args[1:], code, args[0])
	}
}
