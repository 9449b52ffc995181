package tools

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// A page is read for whoever asks; one that leads elsewhere is told of.
func TestAPageIsRead(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "http://elsewhere.example/new", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<title>Opening hours</title><nav>menu</nav><main><p>We open at nine.</main>")
		}
	}))
	t.Cleanup(site.Close)
	_, port, _ := net.SplitHostPort(site.Listener.Addr().String())
	p := newPlace(t, nil)
	r := p.StartOther(t, apptest.Intervals{}, sitePort+"="+port)
	address := "http://shop.example:" + port
	got := p.asks(simulator.Alice, simulator.General, "", "<@UBOT> when do they open? "+address+"/hours", "fetch_page", map[string]string{"url": address + "/hours"}, "At nine.")
	if !strings.Contains(got.Content, "Title: Opening hours") || !strings.Contains(got.Content, "We open at nine.") || strings.Contains(got.Content, "menu") {
		t.Errorf("%q", got.Content)
	}
	got = p.asks(simulator.Alice, simulator.General, "", "<@UBOT> and "+address+"/moved", "fetch_page", map[string]string{"url": address + "/moved"}, "It has moved.")
	if !strings.Contains(got.Content, "redirects to another host, elsewhere.example") {
		t.Errorf("%q", got.Content)
	}
	r.Term(t)
}

// The shipped binary asks nothing inside, whatever the model asks for.
func TestNothingInsideIsAsked(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		_, _ = io.WriteString(w, "secret")
	}))
	t.Cleanup(inside.Close)
	p := newPlace(t, nil)
	r := p.Start(t)
	for i, address := range []string{
		inside.URL + "/", "http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
		"http://169.254.169.254/latest/meta-data/", "http://0.0.0.0/", "file:///etc/passwd",
	} {
		got := p.asks(simulator.Alice, simulator.General, "", "<@UBOT> read "+address, "fetch_page", map[string]string{"url": address}, "I may not read that, number "+string(rune('a'+i))+".")
		if strings.Contains(got.Content, "secret") || strings.Contains(got.Content, "root:") {
			t.Errorf("%s: %q", address, got.Content)
		}
	}
	r.Term(t)
	if n := hits.Load(); n > 0 {
		t.Errorf("a server inside was asked %d times", n)
	}
}
