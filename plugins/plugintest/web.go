package plugintest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// web is the internet of a test: whatever host is asked, one handler answers,
// and it says in Request.Host who was meant.
type web struct {
	handler http.Handler

	mu       sync.Mutex
	server   *httptest.Server
	requests int
}

// client implements Services.HTTP.
func (w *web) client(hosts ...string) *http.Client {
	return &http.Client{Transport: door{web: w, hosts: hosts}}
}

// asked is how many requests there were.
func (w *web) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests
}

func (w *web) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server != nil {
		w.server.CloseClientConnections()
		w.server.Close()
		w.server = nil
	}
}

// address is where the handler is served, once somebody asks.
func (w *web) address() (string, http.RoundTripper, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	if w.handler == nil {
		return "", nil, errors.New("nothing answers in this test: see plugintest.Serve")
	}
	if w.server == nil {
		w.server = httptest.NewServer(w.handler)
	}
	return w.server.Listener.Addr().String(), w.server.Client().Transport, nil
}

// door lets through what goes to one of its hosts, also on a redirect.
type door struct {
	web   *web
	hosts []string
	any   bool // every public name
}

func (d door) RoundTrip(r *http.Request) (*http.Response, error) {
	host := strings.ToLower(strings.TrimSuffix(r.URL.Hostname(), "."))
	if !d.open(host) {
		return nil, fmt.Errorf("ask %s: the plugin named %s as its hosts", host, strings.Join(d.hosts, ", "))
	}
	if net.ParseIP(host) != nil || host == "localhost" {
		return nil, fmt.Errorf("ask %s: it is no public name", host)
	}
	address, transport, err := d.web.address()
	if err != nil {
		return nil, err
	}
	sent := r.Clone(context.WithoutCancel(r.Context())).WithContext(r.Context())
	sent.Host = r.URL.Host
	sent.URL.Scheme, sent.URL.Host = "http", address
	return transport.RoundTrip(sent)
}

func (d door) open(host string) bool {
	return d.any || slices.ContainsFunc(d.hosts, func(allowed string) bool {
		below, wild := strings.CutPrefix(strings.ToLower(allowed), "*")
		return host == allowed || wild && strings.HasPrefix(below, ".") && strings.HasSuffix(host, below)
	})
}
