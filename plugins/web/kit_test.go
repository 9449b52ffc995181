package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/plugins/web"
)

// place is a server at 127.0.0.1, which stands for a public address here, and a
// tool for which every name leads there unless answers says otherwise.
type place struct {
	tool    plugins.Tool
	port    string
	answers map[string][]string

	mu   sync.Mutex
	seen []*http.Request
}

func (p *place) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	address := "127.0.0.1"
	if list := p.answers[host]; len(list) > 0 {
		address = list[0]
		p.answers[host] = list[1:]
	}
	return []netip.Addr{netip.MustParseAddr(address)}, nil
}

func newPlace(t *testing.T, handler http.HandlerFunc, change ...func(*web.Options)) *place {
	t.Helper()
	p := &place{answers: map[string][]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, r.Clone(context.Background()))
		p.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	_, p.port, _ = net.SplitHostPort(server.Listener.Addr().String())
	var port uint16
	_, _ = fmt.Sscan(p.port, &port)
	o := web.Options{Timeout: 5 * time.Second, Outbound: outbound.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []uint16{port}, Resolver: p,
	}}
	for _, f := range change {
		f(&o)
	}
	plugin := web.With(o)
	extension, err := plugin.Open(t.Context(), plugins.Services{})
	if err != nil {
		t.Fatal(err)
	}
	if err := extension.Check(plugin.Name()); err != nil {
		t.Fatal(err)
	}
	p.tool = extension.Tools[0]
	return p
}

func (p *place) url(host, path string) string { return "http://" + host + ":" + p.port + path }

func (p *place) requests() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*http.Request{}, p.seen...)
}

// fetch calls the tool. What it says names nothing of the network inside.
func (p *place) fetch(t *testing.T, address string) plugins.Result {
	t.Helper()
	arguments, _ := json.Marshal(map[string]string{"url": address})
	result, err := p.tool.Call(t.Context(), plugins.Call{}, arguments)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	if result.Error && !strings.Contains(address, "127.0.0.1") && strings.Contains(result.Text, "127.0.0.1") {
		t.Errorf("%s: an address is told: %q", address, result.Text)
	}
	return result
}

// serve answers with one content type and text.
func serve(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

// text is what a page gives, without the lines in front.
func (p *place) text(t *testing.T) string {
	t.Helper()
	result := p.fetch(t, p.url("example.com", "/dir/page"))
	if result.Error {
		t.Fatalf("not read: %s", result.Text)
	}
	_, text, _ := strings.Cut(result.Text, "\n\n")
	return text
}
