package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"testing"

	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/plugins/plugintest"
	"reeve/plugins/web"
)

func TestSuite(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the suite counts what is left running
		serve("text/html", "<p>hello")(w, r)
	}))
	t.Cleanup(server.Close)
	u, _ := url.Parse(server.URL)
	port, _ := strconv.ParseUint(u.Port(), 10, 16)
	o := web.Options{Outbound: outbound.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []uint16{uint16(port)}, Resolver: &place{},
	}}
	arguments, _ := json.Marshal(map[string]string{"url": "http://example.com:" + u.Port() + "/page"})
	plugintest.Suite(t, func() plugins.Plugin { return web.With(o) }, plugintest.Example("fetch_page", string(arguments)))
}
