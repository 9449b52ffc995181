package outbound_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/plugins/outbound"
)

// names answers for names; each answer is used once, and the last for good.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string
	asked   int
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	host = strings.ToLower(host)
	list := n.answers[host]
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.9.8.7:53", IsNotFound: true}
	}
	if len(list) > 1 {
		n.answers[host] = list[1:]
	}
	var found []netip.Addr
	for _, text := range list[0] {
		found = append(found, netip.MustParseAddr(text))
	}
	return found, nil
}

// site is a server at 127.0.0.1, which stands for a public address here. All
// else of loopback is private, as it always is.
type site struct {
	*httptest.Server
	port  string
	names *names
	hits  []string
	mu    sync.Mutex
}

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{names: &names{answers: map[string][][]string{}}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hits = append(s.hits, r.Host+r.URL.Path)
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	_, s.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return s
}

func (s *site) url(host, path string) string { return "http://" + host + ":" + s.port + path }

func (s *site) options() outbound.Options {
	u, _ := url.Parse(s.URL)
	var port uint16
	_, _ = fmt.Sscan(u.Port(), &port)
	return outbound.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []uint16{port},
		Resolver: s.names, Timeout: 10 * time.Second,
	}
}

func (s *site) reached() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.hits...)
}

// get reads all of an answer.
func get(t *testing.T, c *http.Client, address string) (string, error) {
	t.Helper()
	t.Cleanup(c.CloseIdleConnections)
	response, err := c.Get(address)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

func refusal(t *testing.T, err error) *outbound.Error {
	t.Helper()
	refused, ok := errors.AsType[*outbound.Error](err)
	if !ok || !refused.Refused {
		t.Fatalf("not refused: %v", err)
	}
	for _, inside := range []string{"127.", "10.", "169.", "192.168", "::", ":53"} {
		if strings.Contains(refused.Why, inside) {
			t.Errorf("the refusal names an address: %q", refused.Why)
		}
	}
	return refused
}

func TestItReachesTheHostsOfItsList(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	for _, host := range []string{"api.example.com", "www.example.com", "example.com", "notexample.com", "a.b.example.com"} {
		s.names.answers[host] = [][]string{{"127.0.0.1"}}
	}
	tests := []struct {
		hosts string
		host  string
		may   bool
	}{
		{"api.example.com", "api.example.com", true},
		{"api.example.com", "API.Example.COM", true},
		{"api.example.com", "www.example.com", false},
		{"*.example.com", "www.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "notexample.com", false},
		{"example.com", "notexample.com", false},
		{"", "example.com", false},
		{"*", "example.com", false},
		{"*.", "example.com", false},
		{"example.com:80", "example.com", false},
		{"http://example.com", "example.com", false},
	}
	for _, test := range tests {
		text, err := get(t, s.options().Client(test.hosts), s.url(test.host, "/"))
		switch {
		case test.may && (err != nil || text != "hello"):
			t.Errorf("%q asks %s: %q, %v", test.hosts, test.host, text, err)
		case !test.may:
			refusal(t, err)
		}
	}
}

func TestItAsksNoAddressThatIsNotPublic(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") })
	s.names.answers["inside.example"] = [][]string{{"127.0.0.2", "10.0.0.1", "::1", "169.254.169.254", "64:ff9b::a00:1", "::ffff:127.0.0.2"}}
	s.names.answers["localhost"] = [][]string{{"127.0.0.2"}}
	s.names.answers["2130706434"] = [][]string{{"127.0.0.2"}} // how some resolvers read it
	for _, host := range []string{
		"inside.example", "localhost", "2130706434", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]",
		"[64:ff9b::7f00:1]", "[fe80::1%25lo]", "169.254.169.254", "[fd00:ec2::254]",
	} {
		_, err := get(t, s.options().Any(), s.url(host, "/"))
		refusal(t, err)
	}
	if hits := s.reached(); len(hits) > 0 {
		t.Errorf("the server was reached: %q", hits)
	}
}

// A name with a public and a private address is reached at the public one.
func TestItLeavesOutPrivateAddressesOfAName(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	s.names.answers["both.example"] = [][]string{{"127.0.0.2", "::ffff:127.0.0.1"}}
	if text, err := get(t, s.options().Any(), s.url("both.example", "/")); text != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

// A name that is public when it is looked at and private afterwards gains
// nothing: the address that was looked at is the one that is connected to, and
// the next connection is looked at anew.
func TestRebindingGainsNothing(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "hello")
	})
	s.names.answers["rebind.example"] = [][]string{{"127.0.0.1"}, {"127.0.0.2"}}
	client := s.options().Any()
	if text, err := get(t, client, s.url("rebind.example", "/1")); text != "hello" {
		t.Fatalf("%q, %v", text, err)
	}
	if s.names.asked != 1 {
		t.Errorf("DNS was asked %d times for one connection", s.names.asked)
	}
	_, err := get(t, client, s.url("rebind.example", "/2"))
	refusal(t, err)
	if hits := s.reached(); len(hits) != 1 {
		t.Errorf("reached %q", hits)
	}
}

func TestSchemesPortsAndUserInfo(t *testing.T) {
	s := newSite(t, func(http.ResponseWriter, *http.Request) {})
	s.names.answers["example.com"] = [][]string{{"127.0.0.1"}}
	for _, address := range []string{
		"ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "http://user@example.com:" + s.port + "/",
		"http://user:word@example.com:" + s.port + "/", "http://example.com:22/", "http://example.com:6379/",
		"http:///", "http://exa_mple.com/", "http://" + strings.Repeat("a", 300) + ".com/",
	} {
		_, err := get(t, s.options().Any(), address)
		if refused, ok := errors.AsType[*outbound.Error](err); !ok || !refused.Refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	request, _ := http.NewRequest("GET", s.url("example.com", "/"), nil)
	request.Host = "other.example"
	_, err := s.options().Any().Do(request)
	refusal(t, err)
	if hits := s.reached(); len(hits) > 0 {
		t.Errorf("reached %q", hits)
	}
}

func TestRedirectsAreLookedAtOneByOne(t *testing.T) {
	var to string
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			_, _ = io.WriteString(w, "end")
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	for _, host := range []string{"example.com", "www.example.com", "other.example"} {
		s.names.answers[host] = [][]string{{"127.0.0.1"}}
	}
	client := func() *http.Client { return s.options().Client("example.com", "*.example.com", "127.0.0.2") }
	to = s.url("www.example.com", "/end")
	if text, err := get(t, client(), s.url("example.com", "/")); text != "end" {
		t.Errorf("%q, %v", text, err)
	}
	for _, to = range []string{s.url("other.example", "/end"), s.url("127.0.0.2", "/end"), s.url("u@example.com", "/end"), "ftp://example.com/", "file:///etc/passwd"} {
		_, err := get(t, client(), s.url("example.com", "/"))
		refusal(t, err)
	}
	to = s.url("example.com", "/again")
	_, err := get(t, client(), s.url("example.com", "/"))
	refusal(t, err)
	if n := len(s.reached()); n != 2+5+1+outbound.MaxRedirects {
		t.Errorf("%d requests: %q", n, s.reached())
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fits":
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 1001))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 10<<20))
			_ = z.Close()
		case "/headers":
			for i := range 100 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		}
	})
	s.names.answers["example.com"] = [][]string{{"127.0.0.1"}}
	o := s.options()
	o.MaxBody = 1000
	if text, err := get(t, o.Any(), s.url("example.com", "/fits")); err != nil || len(text) != 1000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, path := range []string{"/long", "/bomb"} {
		text, err := get(t, o.Any(), s.url("example.com", path))
		refusal(t, err)
		if len(text) != 1000 {
			t.Errorf("%s: %d bytes", path, len(text))
		}
	}
	if _, err := get(t, o.Any(), s.url("example.com", "/headers")); err == nil {
		t.Error("headers without end are read")
	}
}

// What is said of a failure names nothing of the network inside.
func TestErrorsNameNoAddress(t *testing.T) {
	hang := make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-hang
		case "/drip":
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			<-hang
		case "/cut":
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { close(hang) })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var port uint16
	_, text, _ := net.SplitHostPort(closed.Addr().String())
	_, _ = fmt.Sscan(text, &port)
	_ = closed.Close()
	s.names.answers["example.com"] = [][]string{{"127.0.0.1"}}
	o := s.options()
	o.Timeout, o.Ports = 300*time.Millisecond, append(o.Ports, port)
	tests := map[string]string{
		s.url("nowhere.example", "/"):         "no host of that name",
		s.url("example.com", "/hang"):         "took too long",
		s.url("example.com", "/drip"):         "took too long",
		s.url("example.com", "/cut"):          "broke off",
		"http://example.com:" + text + "/":    "does not answer",
		"https://example.com:" + s.port + "/": "TLS",
	}
	for address, want := range tests {
		_, err := get(t, o.Any(), address)
		e, ok := errors.AsType[*outbound.Error](err)
		if !ok || !strings.Contains(e.Why, want) {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for _, inside := range []string{"127.0.0.1", "10.9.8.7"} {
			if strings.Contains(err.Error(), inside) {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}

// A proxy would connect in our place, to whatever it likes.
func TestTheEnvironmentGivesNoProxy(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	s.names.answers["example.com"] = [][]string{{"127.0.0.1"}}
	t.Setenv("HTTP_PROXY", "http://127.0.0.2:1")
	t.Setenv("http_proxy", "http://127.0.0.2:1")
	if text, err := get(t, s.options().Any(), s.url("example.com", "/")); text != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

// Over TLS: the certificate is that of the host, HTTP/2 is spoken where it can
// be, and no redirect leads down to http.
func TestTLS(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in the clear") })
	var to string
	safe := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, r.Proto)
	}))
	safe.EnableHTTP2 = true
	safe.StartTLS()
	t.Cleanup(safe.Close)
	_, port, _ := net.SplitHostPort(safe.Listener.Addr().String())
	var number uint16
	_, _ = fmt.Sscan(port, &number)
	for _, host := range []string{"example.com", "other.test"} {
		s.names.answers[host] = [][]string{{"127.0.0.1"}}
	}
	o := s.options()
	o.Ports = append(o.Ports, number)
	if _, err := get(t, o.Client("example.com"), "https://example.com:"+port+"/"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody trusts: %v", err)
	}
	o.RootCAs = x509.NewCertPool()
	o.RootCAs.AddCert(safe.Certificate())
	if text, err := get(t, o.Client("example.com"), "https://example.com:"+port+"/"); text != "HTTP/2.0" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := get(t, o.Client("other.test"), "https://other.test:"+port+"/"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of another host: %v", err)
	}
	to = s.url("example.com", "/")
	_, err := get(t, o.Client("example.com"), "https://example.com:"+port+"/down")
	if refused := refusal(t, err); !strings.Contains(refused.Why, "from https to http") {
		t.Errorf("%q", refused.Why)
	}
	if hits := s.reached(); len(hits) > 0 {
		t.Errorf("reached %q in the clear", hits)
	}
}
