package oauth_test

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// oidc is a real OpenID provider on loopback: zitadel's, with its own storage.
type oidc struct {
	base    string
	storage *storage.Storage
	// callback is where a signed-in browser is sent.
	callback func(context.Context, string) string
}

const (
	oidcSecret = "app-secret"
	oidcName   = "corp"
)

// newOIDC starts it. redirect is the callback of the code client.
func newOIDC(t *testing.T, redirect func() string) *oidc {
	t.Helper()
	o := &oidc{}
	var handler http.Handler
	o.base = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	o.storage = storage.NewStorageWithClients(storage.NewUserStore(o.base), map[string]*storage.Client{
		"web":    storage.WebClient("web", oidcSecret, redirect()),
		"device": storage.DeviceClient("device", oidcSecret),
	})
	config := &op.Config{
		CryptoKey: sha256.Sum256([]byte("test")), CodeMethodS256: true, AuthMethodPost: true, GrantTypeRefreshToken: true,
		DeviceAuthorization: op.DeviceAuthorizationConfig{Lifetime: 5 * time.Minute, PollInterval: 5 * time.Second, UserFormPath: "/device", UserCode: op.UserCodeBase20},
	}
	provider, err := op.NewProvider(config, o.storage, op.StaticIssuer(o.base), op.WithAllowInsecure(),
		op.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	if err != nil {
		t.Fatal(err)
	}
	handler, o.callback = provider, op.AuthCallbackURL(provider)
	return o
}

func (o *oidc) provider(client string) oauth.Configured {
	return oauth.Configured{
		Provider: oauth.Provider{
			Name: oidcName, Title: "Corp ID", AuthURL: o.base + "/authorize", TokenURL: o.base + "/oauth/token",
			DeviceURL: o.base + "/device_authorization", Revoke: oauth.Revoke{URL: o.base + "/revoke"},
			UserInfo: oauth.UserInfo{URL: o.base + "/userinfo", ID: "sub", Name: "name", Email: "email", Verified: "email_verified"},
			Scopes:   oauth.Scopes{Default: []string{"openid", "profile", "email", "offline_access"}},
			Hosts:    []string{"127.0.0.1"}, AuthStyle: "header", PKCE: true, Issuer: o.base,
		},
		ClientID: client, ClientSecret: credentials.NewSecret(oidcSecret),
	}
}

// signIn is a person at the provider: he signs in and allows it, and is sent back.
func (o *oidc) signIn(b *browser, address, user string) string {
	b.t.Helper()
	p := b.get(address)
	if p.status != http.StatusFound {
		b.t.Fatalf("authorize: %d %s", p.status, p.text)
	}
	id := query(b.t, p.header.Get("Location"), "authRequestID")
	if err := o.storage.CheckUsernamePassword(user, "verysecure", id); err != nil {
		b.t.Fatal(err)
	}
	back := o.callback(op.ContextWithIssuer(context.Background(), o.base), id)
	if strings.HasPrefix(back, "/") {
		back = o.base + back
	}
	p = b.get(back)
	if p.status != http.StatusFound {
		b.t.Fatalf("callback at the provider: %d %s", p.status, p.text)
	}
	return p.header.Get("Location")
}

// codeKit is a service with the code flow at a real provider.
func codeKit(t *testing.T) (*kit, *oidc) {
	t.Helper()
	var o *oidc
	var k *kit
	// The provider has to know our callback, and we have to know the provider.
	public := httptest.NewUnstartedServer(nil)
	t.Cleanup(public.Close)
	o = newOIDC(t, func() string { return "http://" + public.Listener.Addr().String() + "/callback/" + oidcName })
	k = newKit(t, []oauth.Configured{o.provider("web")}, func(opts *oauth.Options) { opts.PublicURL = "http://" + public.Listener.Addr().String() })
	public.Config.Handler = k.Handler()
	public.Start()
	return k, o
}

func TestCodeFlowAtARealProvider(t *testing.T) {
	k, o := codeKit(t)
	b := newBrowser(t)
	link := k.begin(alice, oidcName)
	address := b.follow(link)
	for name, want := range map[string]string{"code_challenge_method": "S256", "response_type": "code", "scope": "openid profile email offline_access"} {
		if got := query(t, address, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	p := b.get(o.signIn(b, address, "test-user2"))
	code := p.code(t)
	if !strings.Contains(p.text, "<strong>Alice</strong>") || !strings.Contains(p.text, "Acme &amp; Sons") || !strings.Contains(p.text, "Test User2") {
		t.Errorf("the page does not say whose it is: %s", p.text)
	}
	if _, there := k.record(alice, oidcName); there {
		t.Error("the account is connected before its code was entered")
	}
	sentence, done, err := k.Enter(t.Context(), link.Flow, alice, strings.ToLower(code))
	if err != nil || !done || sentence != "Connected: Test User2 at Corp ID." {
		t.Fatalf("%q, %v, %v", sentence, done, err)
	}
	r, there := k.record(alice, oidcName)
	if !there || r.AccountID != "id2" || r.Email != "test-user2@zitadel.ch" || !r.Refresh.IsSet() || !r.Told {
		t.Errorf("%+v", r)
	}
	by := alice
	if got := k.endings(); len(got) != 1 || got[0].turn != "t_1" || got[0].wait != "7" || got[0].how != chat.ByAccount || *got[0].by != by {
		t.Errorf("waits ended: %+v", got)
	}
	if got := k.tellings(); len(got) != 1 || got[0].person != alice || got[0].part.Card.Kind != chat.ConnectedCard || got[0].part.Card.Account != "Test User2" {
		t.Errorf("told: %+v", got)
	}

	// The account speaks for its person at the provider's own API.
	account, end, err := k.Open(t.Context(), oauth.Use{Actor: alice, Provider: oidcName, Access: plugins.Read})
	if err != nil {
		t.Fatal(err)
	}
	response, err := account.HTTP.Get(o.base + "/userinfo")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.Contains(string(text), "test-user2") {
		t.Errorf("%d %s", response.StatusCode, text)
	}
	end()

	// Its tokens are of five minutes: a refresh comes ahead of the end, and the old
	// refresh token is good for nothing more.
	k.clock.advance(4*time.Minute + 30*time.Second)
	if _, end, err = k.Open(t.Context(), oauth.Use{Actor: alice, Provider: oidcName, Access: plugins.Read}); err != nil {
		t.Fatal(err)
	}
	end()
	renewed, _ := k.record(alice, oidcName)
	if renewed.Access.Equal(r.Access) || renewed.Refresh.Equal(r.Refresh) || renewed.AccountID != "id2" {
		t.Error("the token was not renewed")
	}

	// Disconnecting revokes it there.
	sentence, err = k.Disconnect(t.Context(), alice, oidcName, oauth.ViaHome)
	if err != nil || !strings.Contains(sentence, "revoked") {
		t.Errorf("%q, %v", sentence, err)
	}
	request, _ := http.NewRequest("GET", o.base+"/userinfo", nil)
	request.Header.Set("Authorization", "Bearer "+renewed.Access.Reveal())
	if p := b.do(request); p.status == http.StatusOK {
		t.Error("the access token still works")
	}
	if standing, err := k.Look(t.Context(), alice, oidcName, nil); err != nil || standing.Connected {
		t.Errorf("%+v, %v", standing, err)
	}
}

func TestDeviceFlowAtARealProvider(t *testing.T) {
	o := newOIDC(t, func() string { return "http://127.0.0.1/none" })
	device := o.provider("device")
	device.Scopes.Default = []string{"openid", "profile", "email"}
	k := newKit(t, []oauth.Configured{device}, withoutURL)
	k.emails[alice] = "Test-User2@zitadel.ch"
	link := k.begin(alice, oidcName)
	if link.Code == "" || link.URL == "" {
		t.Fatalf("%+v", link)
	}
	if _, err := url.Parse(link.URL); err != nil {
		t.Fatal(err)
	}
	// Nobody has entered it yet.
	k.clock.advance(6 * time.Second)
	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, there := k.record(alice, oidcName); there {
		t.Fatal("connected before the code was entered")
	}
	if err := o.storage.CompleteDeviceAuthorization(t.Context(), link.Code, "id2"); err != nil {
		t.Fatal(err)
	}
	// Another process goes on where the first one was.
	second := k.another([]oauth.Configured{device}, withoutURL)
	k.clock.advance(6 * time.Second)
	if err := second.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, there := k.record(alice, oidcName)
	if !there || r.AccountID != "id2" {
		t.Fatalf("not connected: %+v\n%s", r, k.log)
	}
	if got := k.endings(); len(got) != 1 || got[0].how != chat.ByAccount {
		t.Errorf("waits ended: %+v", got)
	}
	if got := k.tellings(); len(got) != 1 {
		t.Errorf("told: %+v", got)
	}
}

// A code is over long before the turn that waits for the account. Its person asks
// for another one, as often as he needs, and goes on with that; nobody else can, and
// the older one counts no more.
func TestADeviceCodeIsHadAnewAtARealProvider(t *testing.T) {
	o := newOIDC(t, func() string { return "http://127.0.0.1/none" })
	device := o.provider("device")
	device.Scopes.Default = []string{"openid", "profile", "email"}
	k := newKit(t, []oauth.Configured{device}, withoutURL)
	k.emails[alice] = "test-user2@zitadel.ch"
	link := k.begin(alice, oidcName, "openid")
	sweep := func(d time.Duration) {
		t.Helper()
		k.clock.advance(d)
		if err := k.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sweep(6 * time.Minute) // the provider gives five
	if got := k.endings(); len(got) != 0 {
		t.Fatalf("the wait ended with its code: %+v", got)
	}
	if card, sentence, err := k.NewCode(t.Context(), link.Flow, mallory); err != nil || card != nil || !strings.Contains(sentence, "not yours") {
		t.Errorf("somebody else: %+v, %q, %v", card, sentence, err)
	}
	codes := []string{link.Code}
	for range 2 { // once it is over, and once while it is good
		card, sentence, err := k.NewCode(t.Context(), link.Flow, alice)
		if err != nil || card == nil {
			t.Fatalf("%q, %v\n%s", sentence, err, k.log)
		}
		if card.Kind != chat.ConnectCard || card.URL != link.URL || card.Flow != link.Flow || card.Turn != "t_1" || card.Wait != "7" ||
			card.Conversation != thread || card.Asking.Provider != oidcName || !slices.Equal(card.Asking.Scopes, []string{"openid"}) || card.Until.After(link.Until) {
			t.Errorf("%+v", card)
		}
		codes = append(codes, card.Code)
	}
	if codes[0] == codes[1] || codes[1] == codes[2] || codes[2] == "" {
		t.Errorf("%q", codes)
	}
	if err := o.storage.CompleteDeviceAuthorization(t.Context(), codes[1], "id2"); err != nil {
		t.Fatal(err)
	}
	sweep(6 * time.Second)
	if _, there := k.record(alice, oidcName); there {
		t.Error("an older code counts")
	}
	if err := o.storage.CompleteDeviceAuthorization(t.Context(), codes[2], "id2"); err != nil {
		t.Fatal(err)
	}
	sweep(6 * time.Second)
	if r, there := k.record(alice, oidcName); !there || r.AccountID != "id2" {
		t.Fatalf("not connected: %+v\n%s", r, k.log)
	}
	if got := k.endings(); len(got) != 1 || got[0].how != chat.ByAccount {
		t.Errorf("waits ended: %+v", got)
	}
	k.wantAudited("connect address")
	if card, sentence, err := k.NewCode(t.Context(), link.Flow, alice); err != nil || card != nil || sentence == "" {
		t.Errorf("afterwards: %+v, %q, %v", card, sentence, err)
	}

	// When the wait's own time is over there is no other code.
	k = newKit(t, []oauth.Configured{device}, withoutURL)
	link = k.begin(alice, oidcName)
	sweep(6 * time.Minute)
	sweep(time.Hour)
	if card, _, err := k.NewCode(t.Context(), link.Flow, alice); err != nil || card != nil {
		t.Errorf("after the wait: %+v, %v", card, err)
	}
}

// Mallory's code, entered by Alice, connects nothing for Mallory.
func TestSomebodyElsesDeviceCodeConnectsNothing(t *testing.T) {
	o := newOIDC(t, func() string { return "http://127.0.0.1/none" })
	device := o.provider("device")
	device.Scopes.Default = []string{"openid", "profile", "email"}
	k := newKit(t, []oauth.Configured{device}, withoutURL)
	link := k.begin(mallory, oidcName)
	if err := o.storage.CompleteDeviceAuthorization(t.Context(), link.Code, "id2"); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(6 * time.Second)
	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, there := k.record(mallory, oidcName); there {
		t.Error("Mallory has Alice's account")
	}
	if got := k.endings(); len(got) != 1 || got[0].how != chat.ByRefusal {
		t.Errorf("waits ended: %+v", got)
	}
	if got := k.tellings(); len(got) != 1 || !strings.Contains(got[0].part.Markdown, "another e-mail address") {
		t.Errorf("told: %+v", got)
	}
	k.wantAuditedOf(mallory, "!connect address")

	// Unless the operator has allowed it by name.
	device.AnyEmail = true
	k = newKit(t, []oauth.Configured{device}, withoutURL)
	link = k.begin(mallory, oidcName)
	if err := o.storage.CompleteDeviceAuthorization(t.Context(), link.Code, "id2"); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(6 * time.Second)
	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, there := k.record(mallory, oidcName); !there {
		t.Error("not connected")
	}
	k.wantAuditedOf(mallory, "connect any_address")
}
