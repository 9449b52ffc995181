package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/runtime/chat"
)

func answer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// A provider's endpoints answer anything at all. Nothing is connected, nothing of
// it is repeated, and the person can go on afterwards.
func TestAHostileProvider(t *testing.T) {
	const jsonKind = "application/json"
	huge := `{"access_token":"` + strings.Repeat(tokenKind, 1<<17) + `"}`
	var stolen int
	thief := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen++ }))
	for name, set := range map[string]func(*fake){
		"a token in an error's body": func(f *fake) {
			f.token = answer(400, jsonKind, `{"error":"`+tokenKind+`","error_description":"`+tokenKind+`"}`)
		},
		"a huge answer":         func(f *fake) { f.token = answer(200, jsonKind, huge) },
		"garbage":               func(f *fake) { f.token = answer(200, jsonKind, `{"access_token":`) },
		"another kind of token": func(f *fake) { f.token = answer(200, jsonKind, `{"access_token":"`+tokenKind+`","token_type":"mac"}`) },
		"a token with a line end": func(f *fake) {
			f.token = answer(200, jsonKind, `{"access_token":"`+tokenKind+`\r\nX-Evil: 1","token_type":"bearer"}`)
		},
		"a redirect of the secret":   func(f *fake) { f.token = http.RedirectHandler(thief, http.StatusTemporaryRedirect).ServeHTTP },
		"a redirect of the token":    func(f *fake) { f.userinfo = http.RedirectHandler(thief, http.StatusFound).ServeHTTP },
		"nobody's account":           func(f *fake) { f.user = map[string]any{"name": tokenKind} },
		"an account that is no text": func(f *fake) { f.user = map[string]any{"sub": []string{"17"}, "name": "x"} },
		"an error whose account":     func(f *fake) { f.userinfo = answer(500, "text/plain", tokenKind) },
		"an account that is no JSON": func(f *fake) { f.userinfo = answer(200, jsonKind, "<html>"+tokenKind) },
		"a huge account":             func(f *fake) { f.userinfo = answer(200, jsonKind, `{"sub":"`+strings.Repeat("x", 2<<20)+`"}`) },
		"an answer that does not come": func(f *fake) {
			f.token = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		},
		"an answer by drops": func(f *fake) {
			f.token = func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					_, _ = io.WriteString(w, " ")
					w.(http.Flusher).Flush()
				}
			}
		},
		"an answer that breaks off": func(f *fake) {
			f.token = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, `{"access_token":"`+tokenKind)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			k := newKit(t, []oauth.Configured{f.provider("acme")}, func(o *oauth.Options) { o.Outbound.Timeout = 500 * time.Millisecond })
			set(f)
			b := newBrowser(t)
			p := b.get(f.allow(t, b.follow(k.begin(alice, "acme"))))
			if p.status != http.StatusBadGateway || strings.Contains(p.text, tokenKind) {
				t.Errorf("%d %s", p.status, p.text)
			}
			if strings.Contains(k.log.String(), tokenKind) || strings.Contains(k.log.String(), "app-secret") {
				t.Errorf("the log: %s", k.log)
			}
			if _, there := k.record(alice, "acme"); there || stolen > 0 {
				t.Errorf("connected %v, stolen %d", there, stolen)
			}
			f.set(func() { f.token, f.userinfo, f.user = nil, nil, map[string]any{"sub": "17", "name": "octocat"} })
			k.connect(f, "acme")
		})
	}
}

// A name that the provider's person has chosen is shown as he wrote it, and no more.
func TestANameIsOnlyAName(t *testing.T) {
	f := newFake(t)
	f.user["name"] = "<script>*x*</script>\u0000\n" + strings.Repeat("y", 500)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	b := newBrowser(t)
	link := k.begin(alice, "acme")
	p := b.get(f.allow(t, b.follow(link)))
	if strings.Contains(p.text, "<script") {
		t.Error(p.text)
	}
	if _, _, err := k.Enter(t.Context(), link.Flow, alice, p.code(t)); err != nil {
		t.Fatal(err)
	}
	if got := k.tellings()[0].part; strings.Contains(got.Markdown, "<script>") || strings.Contains(got.Markdown, "*x*") || len(got.Card.Account) > 250 {
		t.Errorf("%q", got.Markdown)
	}
}

func TestRefusals(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	b := newBrowser(t)
	// At the provider.
	address := b.follow(k.begin(alice, "acme"))
	back := k.url() + "/callback/acme?error=access_denied&error_description=" + tokenKind + "&state=" + query(t, address, "state")
	if p := b.get(back); p.status != http.StatusOK || strings.Contains(p.text, tokenKind) {
		t.Errorf("%d %s", p.status, p.text)
	}
	if got := k.endings(); len(got) != 1 || got[0].how != chat.ByRefusal || got[0].by != nil {
		t.Errorf("%+v", got)
	}
	// Another error is none: the link stays good.
	link := k.begin(alice, "acme")
	address = b.follow(link)
	if p := b.get(k.url() + "/callback/acme?error=server_error&state=" + query(t, address, "state")); p.status != http.StatusBadGateway {
		t.Errorf("%d", p.status)
	}
	if got := k.endings(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	// In Slack, by whom it concerns.
	if sentence, err := k.Refuse(t.Context(), link.Flow, mallory); err != nil || !strings.Contains(sentence, "not yours") || len(k.endings()) != 1 {
		t.Errorf("%q, %v", sentence, err)
	}
	if _, err := k.Refuse(t.Context(), link.Flow, alice); err != nil || len(k.endings()) != 2 || *k.endings()[1].by != alice {
		t.Errorf("%v", err)
	}
	if p := b.get(link.URL); p.status != http.StatusGone {
		t.Errorf("%d", p.status)
	}
	// A link's own time.
	link = k.begin(alice, "acme")
	k.clock.advance(time.Hour + time.Second)
	if p := b.post(link.URL, nil); p.status != http.StatusGone {
		t.Errorf("%d", p.status)
	}
}

// A process ends between the code and the rest: another one goes on, and tells the
// person until he was told.
func TestWhatAProcessLeavesIsFinished(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	// The other wait of the same person, which this account is enough for, and one
	// that it is not enough for.
	for wait, scope := range map[string]string{"8": "read", "9": "admin"} {
		if _, err := k.Begin(t.Context(), oauth.For{Actor: alice, Provider: "acme", Scopes: []string{scope}, Conversation: thread, Turn: "t_2", Wait: wait}); err != nil {
			t.Fatal(err)
		}
	}
	k.begin(mallory, "acme")
	k.deaf = errors.New("Slack is away")
	b := newBrowser(t)
	link := k.begin(alice, "acme")
	code := b.get(f.allow(t, b.follow(link))).code(t)
	if sentence, done, err := k.Enter(t.Context(), link.Flow, alice, code); err != nil || !done || !strings.HasPrefix(sentence, "Connected") {
		t.Fatalf("%q, %v", sentence, err)
	}
	if r, _ := k.record(alice, "acme"); r.Told {
		t.Error("he was not told")
	}
	second := k.another(providers)
	k.clock.advance(20 * time.Second)
	if err := second.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	k.deaf = nil
	k.mu.Unlock()
	k.clock.advance(20 * time.Second)
	if err := second.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, _ := k.record(alice, "acme"); !r.Told || len(k.tellings()) != 1 {
		t.Errorf("told: %+v", k.tellings())
	}
	waits := map[string]chat.How{}
	for _, e := range k.endings() {
		waits[e.wait] = e.how
	}
	if len(waits) != 2 || waits["7"] != chat.ByAccount || waits["8"] != chat.ByAccount {
		t.Errorf("%+v", waits)
	}
	if sentence, _, _ := k.Enter(t.Context(), link.Flow, alice, code); strings.HasPrefix(sentence, "That is not the code") {
		t.Errorf("%q", sentence)
	}
}

// Slack waits three seconds for an answer, whatever a provider does.
func TestAProviderThatHangsHoldsNobodyUp(t *testing.T) {
	k, f := newAccount(t)
	hang := make(chan struct{})
	defer close(hang)
	f.set(func() { f.hang = hang })
	b := newBrowser(t)
	link := k.begin(alice, "acme", "write")
	code := b.get(f.allow(t, b.follow(link))).code(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if sentence, _, err := k.Enter(ctx, link.Flow, alice, code); err != nil || !strings.HasPrefix(sentence, "Connected") || ctx.Err() != nil {
		t.Errorf("%q, %v, %v", sentence, err, ctx.Err())
	}
	ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	sentence, err := k.Disconnect(ctx, alice, "acme", oauth.ViaHome)
	if err != nil || !strings.Contains(sentence, "did not confirm") || ctx.Err() != nil {
		t.Errorf("%q, %v, %v", sentence, err, ctx.Err())
	}
	if _, there := k.record(alice, "acme"); there {
		t.Error("the account is still there")
	}
}

// Nothing of a token, code, verifier or state is in Redis, in what people are told
// or in the log.
func TestNoSecretStandsAnywhere(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	b := newBrowser(t)
	link := k.begin(alice, "acme")
	address := b.follow(link)
	secrets := []string{tokenKind, "app-secret", query(t, address, "state"), link.URL[strings.LastIndex(link.URL, "/")+1:]}
	look := func(when string) {
		t.Helper()
		ctx := context.Background()
		for _, key := range must(k.redis.Keys(ctx, k.prefix+"*").Result()) {
			text := key
			switch must(k.redis.Type(ctx, key).Result()) {
			case "hash":
				for name, value := range must(k.redis.HGetAll(ctx, key).Result()) {
					text += name + value
				}
			case "zset":
				text += strings.Join(must(k.redis.ZRange(ctx, key, 0, -1).Result()), " ")
			case "string":
				text += must(k.redis.Get(ctx, key).Result())
			}
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %.20s... stands in %s", when, secret, key)
				}
			}
		}
		for _, secret := range secrets {
			if strings.Contains(k.log.String(), secret) {
				t.Errorf("%s: the log has %.20s...", when, secret)
			}
		}
	}
	look("begun")
	code := b.get(f.allow(t, address)).code(t)
	secrets = append(secrets, code, strings.ReplaceAll(code, "-", ""))
	look("pending")
	if _, _, err := k.Enter(t.Context(), link.Flow, alice, code); err != nil {
		t.Fatal(err)
	}
	look("connected")
	k.clock.advance(2 * time.Hour)
	if _, err := use(t.Context(), k.Service, f, plugins.Read); err != nil {
		t.Fatal(err)
	}
	look("refreshed")
	for _, told := range k.tellings() {
		text := string(must(json.Marshal(told.part)))
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("told: %s", text)
			}
		}
	}
}

// Behind a proxy the address may have a path, which it takes off or leaves on.
func TestAnAddressWithAPath(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")}, func(o *oauth.Options) { o.PublicURL += "/bot/" })
	link := k.begin(alice, "acme")
	b := newBrowser(t)
	back := f.allow(t, b.follow(link))
	if !strings.HasPrefix(back, k.url()+"/bot/callback/acme?") {
		t.Fatal(back)
	}
	if p := b.get(strings.Replace(link.URL, "/bot/", "/", 1)); p.status != http.StatusOK {
		t.Errorf("%d", p.status)
	}
	b.get(back).code(t)
}

// One person connects two accounts at once, in one browser.
func TestTwoConnectionsInOneBrowser(t *testing.T) {
	f, g := newFake(t), newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme"), g.provider("other")})
	b := newBrowser(t)
	one, two := k.begin(alice, "acme"), k.begin(alice, "other")
	first, second := f.allow(t, b.follow(one)), g.allow(t, b.follow(two))
	for link, code := range map[oauth.Link]string{one: b.get(first).code(t), two: b.get(second).code(t)} {
		if sentence, _, err := k.Enter(t.Context(), link.Flow, alice, code); err != nil || !strings.HasPrefix(sentence, "Connected") {
			t.Errorf("%q, %v", sentence, err)
		}
	}
}

func TestThePublicServer(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	b := newBrowser(t)
	link := k.begin(alice, "acme")
	for _, p := range []page{b.get(link.URL), b.get(k.url() + "/callback/acme?state=x"), b.get(k.url() + "/"), b.post(link.URL, nil)} {
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		} {
			if got := p.header.Get(name); got != want {
				t.Errorf("%d: %s is %q", p.status, name, got)
			}
		}
		if csp := p.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "script-src") {
			t.Errorf("%d: %s", p.status, csp)
		}
		if strings.Contains(p.text, "<script") {
			t.Error("a script")
		}
	}
	for _, path := range []string{"/", "/metrics", "/healthz", "/connect/", "/connect", "/callback/", "/callback/acme/x", "/connect/a/b", "/debug/pprof/"} {
		if p := b.get(k.url() + path); p.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, p.status)
		}
	}
	for _, path := range []string{"/connect/guess", "/callback/unknown?state=x", "/connect/" + strings.Repeat("x", 5000)} {
		if p := b.get(k.url() + path); p.status != http.StatusGone {
			t.Errorf("%s: %d", path[:min(len(path), 30)], p.status)
		}
	}
	// A scanner that looks at the link does not end the attempt of its person.
	address := b.follow(link)
	newBrowser(t).get(link.URL)
	if p := b.get(f.allow(t, address)); p.status != http.StatusOK {
		t.Errorf("%d %s", p.status, p.text)
	}
	// A link is not followed for ever, and the server is not asked for ever.
	for range 200 {
		if p := b.post(link.URL, nil); p.status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("it is not bounded")
}
