package web_test

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/plugins/web"
)

func TestWhatItDeclares(t *testing.T) {
	plugin := web.New()
	extension, err := plugin.Open(t.Context(), plugins.Services{})
	if err != nil {
		t.Fatal(err)
	}
	tool := extension.Tools[0]
	if !tool.Sends || tool.Access != plugins.Read || tool.Effect != plugins.Pure || tool.Provider != "" {
		t.Errorf("%+v", tool)
	}
	hosts := map[string]string{
		"https://example.com/a?b":                        "example.com",
		"https://EXAMPLE.com:443/":                       "example.com",
		" http://example.com./x ":                        "example.com",
		"https://bücher.example/":                        "xn--bcher-kva.example",
		"https://раураl.com/":                            "xn--l-7sba6dbr.com",
		"https://[2606:4700::1111]/":                     "2606:4700::1111",
		"https://user:pw@example.com/":                   "",
		"https://user@example.com/":                      "",
		"https:///path":                                  "",
		"ftp://example.com/":                             "",
		"file:///etc/passwd":                             "",
		"javascript:alert(1)":                            "",
		"example.com":                                    "",
		"":                                               "",
		"https://exa mple.com/":                          "",
		"https://" + strings.Repeat("a", 3000) + ".com/": "",
	}
	for address, want := range hosts {
		arguments, _ := json.Marshal(map[string]string{"url": address})
		got, err := tool.Host(arguments)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: host %q, %v; want %q", address, got, err, want)
		}
	}
}

func TestAddressesThatAreNotAsked(t *testing.T) {
	p := newPlace(t, serve("text/plain", "secret"))
	for _, address := range []string{
		"example.com", "ftp://example.com/", "file:///etc/passwd", "http://u:p@example.com:" + p.port + "/", "http://example.com:6379/",
		p.url("127.0.0.2", "/"), p.url("[::1]", "/"), p.url("[::ffff:127.0.0.1]", "/"), "http://169.254.169.254/latest/meta-data/",
		"http://[fd00:ec2::254]/", "http://10.0.0.1/", "http://0.0.0.0:" + p.port + "/",
	} {
		if result := p.fetch(t, address); !result.Error || strings.Contains(result.Text, "secret") || !strings.HasPrefix(result.Text, "The page was not read: ") {
			t.Errorf("%s: %q", address, result.Text)
		}
	}
	if seen := p.requests(); len(seen) > 0 {
		t.Errorf("%d requests reached the server", len(seen))
	}
}

// A name that leads to a public address at first and inside afterwards.
func TestRebinding(t *testing.T) {
	p := newPlace(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		if r.URL.Path == "/1" {
			http.Redirect(w, r, "/2", http.StatusFound)
			return
		}
		serve("text/plain", "secret")(w, r)
	})
	p.answers["rebind.example"] = []string{"127.0.0.1", "127.0.0.2"}
	result := p.fetch(t, p.url("rebind.example", "/1"))
	if !result.Error || !strings.Contains(result.Text, "no public address") {
		t.Errorf("%q", result.Text)
	}
	if seen := p.requests(); len(seen) != 1 {
		t.Errorf("%d requests", len(seen))
	}
}

func TestRedirects(t *testing.T) {
	var to string
	p := newPlace(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/from":
			http.SetCookie(w, &http.Cookie{Name: "track", Value: "1"})
			http.Redirect(w, r, to, http.StatusMovedPermanently)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		default:
			serve("text/plain", "the end")(w, r)
		}
	})
	to = "/end?x=1#part"
	if result := p.fetch(t, p.url("example.com", "/from")); result.Error || result.Text != p.url("example.com", "/end?x=1")+"\n\nthe end" {
		t.Errorf("%q", result.Text)
	}
	for _, r := range p.requests() {
		if r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" || r.Header.Get("Authorization") != "" || !strings.Contains(r.UserAgent(), "Reeve") {
			t.Errorf("sent %v", r.Header)
		}
	}
	n := len(p.requests())

	to = p.url("www.example.com", "/end")
	result := p.fetch(t, p.url("example.com", "/from"))
	if !result.Error || !strings.Contains(result.Text, "another host, www.example.com") || !strings.Contains(result.Text, to) {
		t.Errorf("%q", result.Text)
	}
	for _, to = range []string{p.url("u:p@example.com", "/end"), "ftp://example.com/", "javascript:alert(1)", "http://:80/", "http://%zz/"} {
		if result := p.fetch(t, p.url("example.com", "/from")); !result.Error || strings.Contains(result.Text, "the end") {
			t.Errorf("%s: %q", to, result.Text)
		}
	}
	if got := len(p.requests()); got != n+6 {
		t.Errorf("%d requests for 6 redirects that are not followed", got-n)
	}
	if result := p.fetch(t, p.url("example.com", "/nowhere")); !result.Error {
		t.Errorf("%q", result.Text)
	}
	n = len(p.requests())
	if result := p.fetch(t, p.url("example.com", "/loop")); !result.Error || !strings.Contains(result.Text, "more than 5 times") {
		t.Errorf("%q", result.Text)
	}
	if got := len(p.requests()); got != n+6 {
		t.Errorf("%d requests in a loop", got-n)
	}
}

func TestStatusesAreTold(t *testing.T) {
	p := newPlace(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[string]int{"/404": 404, "/403": 403, "/500": 500, "/599": 599}[r.URL.Path])
	})
	for path, want := range map[string]string{"/404": "404 Not Found", "/403": "want a login", "/500": "500 Internal", "/599": "status 599"} {
		if result := p.fetch(t, p.url("example.com", path)); !result.Error || !strings.Contains(result.Text, want) {
			t.Errorf("%s: %q", path, result.Text)
		}
	}
}

func TestOnlyTextIsRead(t *testing.T) {
	var kind, text string
	p := newPlace(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		_, _ = w.Write([]byte(text))
	})
	read := map[string]string{
		"text/plain": "hello", "TEXT/PLAIN; Charset=UTF-8": "hello", "application/json": `{"a":1}`, "application/problem+json": `{}x`,
		"application/atom+xml": "<feed/>", "text/markdown;;;": "# hi", "": "just words",
	}
	for kind, text = range read {
		if result := p.fetch(t, p.url("example.com", "/")); result.Error || !strings.HasSuffix(result.Text, text) {
			t.Errorf("%q: %q", kind, result.Text)
		}
	}
	for _, kind = range []string{"application/pdf", "image/png", "image/svg+xml", "application/octet-stream", "application/zip", "video/mp4", "nonsense"} {
		text = "secret bytes"
		if result := p.fetch(t, p.url("example.com", "/")); !result.Error || !strings.Contains(result.Text, kind) || !strings.Contains(result.Text, "12 bytes") {
			t.Errorf("%q: %q", kind, result.Text)
		}
	}
	for kind, text = range map[string]string{"": "\x89PNG\r\n\x1a\n0000", "text/plain": "MZ\x00\x00binary"} {
		if result := p.fetch(t, p.url("example.com", "/")); !result.Error {
			t.Errorf("%q: %q", kind, result.Text)
		}
	}
}

func TestCharsets(t *testing.T) {
	tests := []struct{ kind, page, want string }{
		{"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"text/plain; charset=windows-1252", "\x93hi\x94", "“hi”"},
		{"text/plain; charset=shift_jis", "\x93\xfa\x96\x7b", "日本"},
		{"text/plain; charset=utf-16le", "h\x00i\x00", "hi"},
		{"text/plain; charset=bogus", "café", "café"},
		{"text/plain", strings.Repeat("x", 3000) + "café", strings.Repeat("x", 3000) + "café"},
		{"text/plain", "\xef\xbb\xbfcafé", "café"},
		{"text/plain; charset=utf-8", "bad \xff\xfe bytes", "bad \uFFFD bytes"},
		{"text/html", "<meta charset=koi8-r><p>\xf0\xf2\xe9", "ПРИ"},
		{"text/html", `<meta http-equiv="content-type" content="text/html; charset=gbk"><p>` + "\xc4\xe3\xba\xc3", "你好"},
		{"text/html; charset=utf-8", "<meta charset=koi8-r><p>дом", "дом"},
	}
	for _, test := range tests {
		p := newPlace(t, serve(test.kind, test.page))
		if got := p.text(t); strings.ReplaceAll(got, "\uFFFD\uFFFD", "\uFFFD") != test.want {
			t.Errorf("%s: %q, want %q", test.kind, got, test.want)
		}
	}
}

// What people do not see does not reach the model either.
func TestInvisibleText(t *testing.T) {
	hidden := "a\u200bb\u202ec\U000E0041\U000E0042d\u00ad\x07e"
	for _, kind := range []string{"text/plain", "text/html"} {
		if got := newPlace(t, serve(kind+"; charset=utf-8", hidden)).text(t); got != "abcde" {
			t.Errorf("%s: %q", kind, got)
		}
	}
	page := `<p>seen</p><p hidden>no1</p><div style="color:red; DISPLAY : none">no2<b>no3</b></div><span aria-hidden=true>no4</span>
		<script>no5</script><style>no6</style><template>no7</template><!-- no8 --><textarea>no9</textarea><noscript><p>needs scripts</noscript>`
	got := newPlace(t, serve("text/html", page)).text(t)
	if strings.Contains(got, "no") || !slices.Equal(strings.Fields(got), []string{"seen", "needs", "scripts"}) {
		t.Errorf("%q", got)
	}
}

// What was asked over TLS is not asked again in the clear.
func TestNoRedirectLeadsDownToHTTP(t *testing.T) {
	p := newPlace(t, serve("text/plain", "in the clear"))
	safe := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.url("example.com", "/"), http.StatusFound)
	}))
	t.Cleanup(safe.Close)
	u, _ := url.Parse(safe.URL)
	ports := make([]uint16, 2)
	_, _ = fmt.Sscan(u.Port()+" "+p.port, &ports[0], &ports[1])
	roots := x509.NewCertPool()
	roots.AddCert(safe.Certificate())
	extension, err := web.With(web.Options{Outbound: outbound.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: ports, Resolver: p, RootCAs: roots,
	}}).Open(t.Context(), plugins.Services{})
	if err != nil {
		t.Fatal(err)
	}
	p.tool = extension.Tools[0]
	result := p.fetch(t, "https://example.com:"+u.Port()+"/")
	if !result.Error || !strings.Contains(result.Text, "from https to http") || len(p.requests()) > 0 {
		t.Errorf("%q, %d requests in the clear", result.Text, len(p.requests()))
	}
}
