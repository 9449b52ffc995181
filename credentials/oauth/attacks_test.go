package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"reeve/credentials/oauth"
	"reeve/runtime/chat"
)

// TestAttacks are the known attacks on such connections, by name. After each of
// them nobody has an account that is not his, and the true owner can still
// connect his own.
func TestAttacks(t *testing.T) {
	tests := []struct {
		name   string
		attack func(*kit, *fake)
	}{
		{"connection phishing: Alice follows Mallory's link", func(k *kit, f *fake) {
			link := k.begin(mallory, "acme")
			hers := newBrowser(k)
			p := hers.get(link.URL)
			if !strings.Contains(p.text, "Mallory &lt;img src=x&gt;") || strings.Contains(p.text, "<img") {
				k.Errorf("the page does not say plainly that it is Mallory's: %s", p.text)
			}
			code := hers.get(f.allow(k, hers.follow(link))).code(k)
			// He can follow his own link again, and guess; the code is on her page alone.
			for range 5 {
				if sentence, _, err := k.Enter(k.Context(), link.Flow, mallory, "0000-0000"); err != nil || strings.HasPrefix(sentence, "Connected") {
					k.Errorf("%q, %v", sentence, err)
				}
			}
			if sentence, _, _ := k.Enter(k.Context(), link.Flow, mallory, code); strings.HasPrefix(sentence, "Connected") {
				k.Errorf("after five tries: %q", sentence)
			}
			if len(f.tookBack()) < 2 {
				k.Errorf("revoked: %q", f.tookBack())
			}
		}},
		{"login CSRF: Mallory's code in Alice's browser", func(k *kit, f *fake) {
			// Mallory begins his own connection and has Alice's browser finish it.
			link := k.begin(mallory, "acme")
			his := newBrowser(k)
			back := f.allow(k, his.follow(link))
			hers := newBrowser(k)
			if p := hers.get(back); p.status == http.StatusOK {
				k.Errorf("another browser finishes it: %s", p.text)
			}
		}},
		{"another person's state in one's own callback", func(k *kit, f *fake) {
			hers, his := newBrowser(k), newBrowser(k)
			address := hers.follow(k.begin(alice, "acme"))
			own := f.allow(k, his.follow(k.begin(mallory, "acme")))
			u, _ := url.Parse(own)
			q := u.Query()
			q.Set("state", query(k, address, "state"))
			u.RawQuery = q.Encode()
			if p := his.get(u.String()); p.status == http.StatusOK {
				k.Errorf("his code goes into her flow: %s", p.text)
			}
		}},
		{"code injection: a code of another attempt", func(k *kit, f *fake) {
			// Mallory has caught a code that was made for Alice's attempt, and gives it
			// to his own: its challenge is that of her verifier.
			hers, his := newBrowser(k), newBrowser(k)
			stolen := f.allow(k, hers.follow(k.begin(alice, "acme")))
			address := his.follow(k.begin(mallory, "acme"))
			forged := query(k, address, "redirect_uri") + "?" + url.Values{
				"code": {query(k, stolen, "code")}, "state": {query(k, address, "state")}, "iss": {f.base},
			}.Encode()
			if p := his.get(forged); p.status == http.StatusOK {
				k.Errorf("the code was taken: %s", p.text)
			}
		}},
		{"replay of a callback", func(k *kit, f *fake) {
			b := newBrowser(k)
			back := f.allow(k, b.follow(k.begin(alice, "acme")))
			cookies := b.Jar.Cookies(must(url.Parse(back)))
			b.get(back).code(k)
			again := newBrowser(k) // with the same cookie, which the first answer took away
			again.Jar.SetCookies(must(url.Parse(back)), cookies)
			if p := again.get(back); p.status != http.StatusGone {
				k.Errorf("%d %s", p.status, p.text)
			}
		}},
		{"mix-up: an answer of one provider at another's callback", func(k *kit, f *fake) {
			b := newBrowser(k)
			back := f.allow(k, b.follow(k.begin(alice, "acme")))
			if p := b.get(strings.Replace(back, "/callback/acme", "/callback/evil", 1)); p.status != http.StatusGone {
				k.Errorf("%d %s", p.status, p.text)
			}
			if len(f.forms) > 0 {
				k.Error("the code went to a token endpoint")
			}
		}},
		{"mix-up: an answer that names another issuer", func(k *kit, f *fake) {
			b := newBrowser(k)
			back := f.allow(k, b.follow(k.begin(alice, "acme")))
			if p := b.get(strings.Replace(back, url.QueryEscape(f.base), url.QueryEscape("https://evil.example"), 1)); p.status != http.StatusBadRequest {
				k.Errorf("%d %s", p.status, p.text)
			}
			if len(f.forms) > 0 {
				k.Error("the code went to the token endpoint")
			}
		}},
		{"a state that is too old, or nobody's", func(k *kit, f *fake) {
			b := newBrowser(k)
			back := f.allow(k, b.follow(k.begin(alice, "acme")))
			k.clock.advance(11 * time.Minute)
			if p := b.get(back); p.status != http.StatusGone {
				k.Errorf("%d %s", p.status, p.text)
			}
			for _, forged := range []string{"?code=x&state=guess", "?code=x", "?state=", "?code=x&state=a&state=b", "?code=a&code=b&state=x", "?%zz", "?state=" + strings.Repeat("x", 9000)} {
				if p := b.get(k.url() + "/callback/acme" + forged); p.status != http.StatusGone {
					k.Errorf("%s: %d", forged[:min(len(forged), 40)], p.status)
				}
			}
		}},
		{"a code that somebody else enters", func(k *kit, f *fake) {
			b := newBrowser(k)
			link := k.begin(alice, "acme")
			code := b.get(f.allow(k, b.follow(link))).code(k)
			sentence, _, err := k.Enter(k.Context(), link.Flow, mallory, code)
			if err != nil || !strings.Contains(sentence, "not yours") {
				k.Errorf("%q, %v", sentence, err)
			}
			// The same user id in another workspace is somebody else.
			if sentence, _, _ := k.Enter(k.Context(), link.Flow, chat.Person("T2", alice.User), code); !strings.Contains(sentence, "not yours") {
				k.Errorf("%q", sentence)
			}
		}},
		{"a link that is opened again while a code waits", func(k *kit, f *fake) {
			// The first attempt was in Mallory's browser, who has caught Alice's link.
			link := k.begin(alice, "acme")
			his, hers := newBrowser(k), newBrowser(k)
			code := his.get(f.allow(k, his.follow(link))).code(k)
			hers.follow(link)
			if sentence, _, err := k.Enter(k.Context(), link.Flow, alice, code); err != nil || strings.HasPrefix(sentence, "Connected") {
				k.Errorf("%q, %v", sentence, err)
			}
			if len(f.tookBack()) != 2 {
				k.Errorf("revoked: %q", f.tookBack())
			}
		}},
		{"a code that waits too long", func(k *kit, f *fake) {
			b := newBrowser(k)
			link := k.begin(alice, "acme")
			code := b.get(f.allow(k, b.follow(link))).code(k)
			k.clock.advance(11 * time.Minute)
			if sentence, _, err := k.Enter(k.Context(), link.Flow, alice, code); err != nil || strings.HasPrefix(sentence, "Connected") {
				k.Errorf("%q, %v", sentence, err)
			}
			if len(f.tookBack()) != 2 {
				k.Errorf("revoked: %q", f.tookBack())
			}
		}},
		{"a form on another site that begins a connection", func(k *kit, f *fake) {
			b := newBrowser(k)
			request, _ := http.NewRequest("POST", k.begin(mallory, "acme").URL, nil)
			request.Header.Set("Sec-Fetch-Site", "cross-site")
			if p := b.do(request); p.status == http.StatusSeeOther {
				k.Error("it begins")
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			evil := newFake(t)
			k := newKit(t, []oauth.Configured{f.provider("acme"), evil.provider("evil")})
			test.attack(k, f)
			for _, who := range []chat.Actor{alice, mallory} {
				for _, provider := range []string{"acme", "evil"} {
					if r, there := k.record(who, provider); there {
						t.Errorf("%s has %s at %s", who.Key(), r.AccountName, provider)
					}
				}
			}
			k.connect(f, "acme")
		})
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (k *kit) url() string { return "http://" + k.public.Listener.Addr().String() }
