package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"reeve/credentials/oauth"
)

// ask is one request for a page, from a peer, with what a proxy has added.
func ask(k *kit, peer string, forwarded ...string) int {
	r := httptest.NewRequest("GET", "/connect/guess", nil)
	r.RemoteAddr = peer
	for _, f := range forwarded {
		r.Header.Add("X-Forwarded-For", f)
	}
	w := httptest.NewRecorder()
	k.Handler().ServeHTTP(w, r)
	return w.Code
}

// flood asks until somebody is refused, and answers after how many.
func flood(k *kit, asks func(n int) int) int {
	k.Helper()
	for n := range 2000 {
		switch status := asks(n); status {
		case http.StatusGone:
		case http.StatusTooManyRequests:
			return n
		default:
			k.Fatalf("%d", status)
		}
	}
	return 2000
}

// still is a clock that stands.
func still(o *oauth.Options) {
	now := time.Now()
	o.Now = func() time.Time { return now }
}

// A stranger who asks for page after page is refused, and nobody else is.
func TestOneStrangerLocksNobodyOut(t *testing.T) {
	for name, test := range map[string]struct {
		stranger func(n int) (peer string, forwarded []string)
		others   [][]string // a peer, and what a proxy has added
	}{
		"from an address": {
			func(int) (string, []string) { return "203.0.113.9:1234", nil },
			[][]string{{"203.0.113.10:1234"}, {"[2001:db8:1:2::9]:1"}, {"127.0.0.1:1", "203.0.113.11"}},
		},
		"who says that he is many": {
			func(n int) (string, []string) {
				return "203.0.113.9:1234", []string{fmt.Sprintf("198.51.%d.%d", n/250, n%250)}
			},
			[][]string{{"203.0.113.10:1234"}},
		},
		"from all of his own network": {
			func(n int) (string, []string) { return fmt.Sprintf("[2001:db8:1:2::%x]:1", n+1), nil },
			[][]string{{"[2001:db8:1:3::1]:1"}},
		},
		"behind our proxy": {
			func(int) (string, []string) { return "10.1.2.3:5", []string{"203.0.113.9"} },
			[][]string{{"10.1.2.3:5", "203.0.113.10"}, {"203.0.113.10:1"}},
		},
		"behind our proxy, who says that he is many": {
			func(n int) (string, []string) {
				return "127.0.0.1:5", []string{fmt.Sprintf("198.51.%d.%d", n/250, n%250), "203.0.113.9, 192.168.7.7"}
			},
			[][]string{{"127.0.0.1:5", "203.0.113.10, 192.168.7.7"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, nil, still)
			n := flood(k, func(n int) int {
				peer, forwarded := test.stranger(n)
				return ask(k, peer, forwarded...)
			})
			if n < 20 || n > 100 {
				t.Errorf("refused after %d", n)
			}
			for _, other := range test.others {
				if status := ask(k, other[0], other[1:]...); status != http.StatusGone {
					t.Errorf("%v: %d", other, status)
				}
			}
		})
	}
}

// Many of them together are bounded too, and those who come after them are served
// when a moment has passed.
func TestManyStrangersAreBoundedTogether(t *testing.T) {
	k := newKit(t, nil)
	now := time.Now()
	service := k.another(nil, func(o *oauth.Options) { o.Now = func() time.Time { return now } })
	k.Service = service
	n := flood(k, func(n int) int { return ask(k, fmt.Sprintf("203.0.%d.%d:1", n/250, n%250)) })
	if n < 200 || n > 1000 {
		t.Errorf("refused after %d", n)
	}
	now = now.Add(time.Second)
	if status := ask(k, "198.51.100.1:1"); status != http.StatusGone {
		t.Errorf("a second later: %d", status)
	}
}

// However many come, what is kept of them is bounded.
func TestManyClientsAreForgotten(t *testing.T) {
	now := time.Now()
	if n := oauth.ClientsKnown(func() time.Time { now = now.Add(time.Second); return now }, 20_000); n > 10_000 {
		t.Errorf("%d are known", n)
	}
}
