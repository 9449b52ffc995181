// Package connecting plays people who connect accounts, through the whole of
// Reeve: a simulated Slack with its cards and windows, browsers, a provider of
// OAuth on loopback, the binary between them, and a real Redis.
package connecting

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// Variables that only this package's main reads.
const (
	apiVariable   = "CONNECTING_API"
	rootsVariable = "CONNECTING_ROOTS"
)

func TestMain(m *testing.M) {
	apptest.Main(m, []plugins.Plugin{acme{}, nosy{}}, func(o *app.Options) {
		u, err := url.Parse(os.Getenv(apiVariable))
		if err != nil {
			panic(err)
		}
		port, _ := strconv.ParseUint(u.Port(), 10, 16)
		roots := x509.NewCertPool()
		text, _ := os.ReadFile(os.Getenv(rootsVariable))
		roots.AppendCertsFromPEM(text)
		o.Outbound = outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []uint16{uint16(port)}, RootCAs: roots}
	})
}

// place is a workspace with one bot in it, and a provider.
type place struct {
	*testing.T
	*apptest.Place
	provider *provider
	// allow is somebody at the provider who lets the app in: where his browser goes.
	allow func(address, whose string) string
}

func newPlace(t *testing.T, store apptest.Store, settings ...string) place {
	t.Helper()
	p, roots := newProvider(t)
	where := placeAt(t, store, p.base, roots, settings...)
	where.provider, where.allow = p, p.allow
	return where
}

// placeAt is a place whose provider has an address. settings win over its own.
func placeAt(t *testing.T, store apptest.Store, base, roots string, settings ...string) place {
	t.Helper()
	file := filepath.Join(t.TempDir(), "acme.json")
	text := fmt.Sprintf(`{"title": "Acme", "auth_url": "%[1]s/authorize", "token_url": "%[1]s/token", "device_url": "%[1]s/device", "revoke": {"url": "%[1]s/revoke"},
		"user_info": {"url": "%[1]s/me", "id": "id", "name": "name"}, "hosts": ["127.0.0.1"], "pkce": true}`, base)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	public := apptest.FreeAddress(t)
	where := place{T: t, Place: apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, store, append([]string{
		"OAUTH_PROVIDERS=acme", "ACME_CLIENT_ID=app", "ACME_PROVIDER_FILE=" + file, "PUBLIC_ADDR=" + public, "PUBLIC_URL=http://" + public,
		"CREDENTIAL_KEYS=1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)),
		apiVariable + "=" + base, rootsVariable + "=" + roots}, settings...)...)}
	return where
}

var linkForm = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/connect/[A-Za-z0-9_-]+`)

// linkAfter waits for a card of Alice's with a link, another than one she had.
func (p place) linkAfter(other string) simulator.Message {
	p.Helper()
	return p.Found(p.T, "a link", simulator.AliceDM, func(m simulator.Message) bool { return m.TS != other && linkForm.Match(m.Blocks) })
}

// link is that of a card.
func (p place) link(m simulator.Message) string {
	p.Helper()
	found := linkForm.FindString(string(m.Blocks))
	if found == "" {
		p.Fatalf("no link: %s", m.Blocks)
	}
	return found
}

// browser opens a link, lets the app into an account, and sees a page.
func (p place) browser(link, whose string) (text string) {
	p.Helper()
	jar, _ := cookiejar.New(nil)
	b := &http.Client{Jar: jar, Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := b.Post(link, "application/x-www-form-urlencoded", nil)
	if err != nil {
		p.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSeeOther {
		p.Fatalf("the link: %d", response.StatusCode)
	}
	if response, err = b.Get(p.allow(response.Header.Get("Location"), whose)); err != nil {
		p.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		p.Fatal(err)
	}
	return string(page)
}

var codeForm = regexp.MustCompile(`<code>([0-9A-Z-]+)</code>`)

func store(t *testing.T) apptest.Store { return redistest.Shared(t) }
