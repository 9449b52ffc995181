package plugintest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"reeve/plugins"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

// forge has a tool that reads and one that writes, each with what a test makes
// it do with its account.
type forge struct {
	do   func(ctx context.Context, account *plugins.Account) error
	kept *plugins.Account
}

func (*forge) Name() string { return "forge" }

func (f *forge) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	act := func(ctx context.Context, call plugins.Call, _ struct{}) (plugins.Result, error) {
		f.kept = call.Account
		return plugins.Result{Text: call.Account.ID + " " + call.Account.Name}, f.do(ctx, call.Account)
	}
	return plugins.Extension{Tools: []plugins.Tool{
		plugins.MustTool(plugins.Tool{Name: "look", Description: "Looks.", Effect: plugins.Pure, Access: plugins.Read, Provider: "forge", Account: true}, act),
		plugins.MustTool(plugins.Tool{Name: "make", Description: "Makes.", Effect: plugins.Once, Access: plugins.Write, Provider: "forge", Account: true}, act),
	}}, nil
}

func send(ctx context.Context, client *http.Client, method, url string) error {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

// seen is a provider that keeps who came with whose rights.
type seen struct {
	mu   sync.Mutex
	came []string
}

func (s *seen) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	account, app := plugintest.RightsOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came = append(s.came, fmt.Sprintf("%s %s%s of %q app %q", r.Method, r.Host, r.URL.Path, account.Key(), app))
}

func TestAnAccountIsTheActorsForOneCall(t *testing.T) {
	const url = "https://api.forge.example/things"
	f, provider := &forge{}, &seen{}
	host := plugintest.New(t, f, plugintest.Serve(provider), plugintest.ProviderHosts("api.forge.example"), plugintest.Apps("acme"),
		plugintest.Accounts(func(person chat.Actor) (string, string) { return "7", "the-" + string(person.User) }))
	f.do = func(ctx context.Context, account *plugins.Account) error {
		if account.App != nil {
			return fmt.Errorf("a call that reads has the bot's rights")
		}
		if err := send(ctx, account.HTTP, http.MethodPost, url); err == nil {
			return fmt.Errorf("a call that reads has sent POST")
		}
		if err := send(ctx, account.HTTP, http.MethodGet, "https://forge.example/"); err == nil {
			return fmt.Errorf("it went to another host")
		}
		return send(ctx, account.HTTP, http.MethodGet, url)
	}
	if got := host.As(plugintest.Bob, "Look.").Calls("look", `{}`); got.Error || got.Text != "7 the-U0BOB" {
		t.Errorf("the call gave %+v", got)
	}
	if err := send(t.Context(), f.kept.HTTP, http.MethodGet, url); err == nil || !strings.Contains(err.Error(), "the call is over") {
		t.Errorf("the client outlives its call: %v", err)
	}
	f.do = func(ctx context.Context, account *plugins.Account) error {
		if _, ok, err := account.App(ctx, "acmes/app"); ok || err != nil {
			return fmt.Errorf("the bot has rights nowhere: %v", err)
		}
		app, ok, err := account.App(ctx, "Acme/app")
		if !ok || err != nil {
			return fmt.Errorf("the bot has no rights at acme: %v", err)
		}
		if err := send(ctx, account.HTTP, http.MethodGet, url); err != nil {
			return err
		}
		return send(ctx, app, http.MethodPost, url)
	}
	if got := host.As(plugintest.Alice, "Make.").Calls("make", `{}`); got.Error {
		t.Errorf("the call gave %+v", got)
	}
	want := []string{
		`GET api.forge.example/things of "T0HOME:U0BOB" app ""`,
		`GET api.forge.example/things of "T0HOME:U0ALICE" app ""`,
		`POST api.forge.example/things of "" app "Acme/app"`,
	}
	if !slices.Equal(provider.came, want) {
		t.Errorf("the provider saw %q", provider.came)
	}
}
