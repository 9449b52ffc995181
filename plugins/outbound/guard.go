package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// guard looks at every request, be it the first or that of a redirect.
type guard struct {
	options Options
	may     func(host string) bool // nil: every host
	next    *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	host, err := g.check(r.URL)
	if err == nil && r.Host != "" && !strings.EqualFold(r.Host, r.URL.Host) {
		err = refused(host, "the request names another host than its address")
	}
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	// Not by the client's own timer, which hides the error that it ends.
	ctx, cancel := context.WithTimeout(r.Context(), g.options.Timeout)
	response, err := g.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		defer cancel()
		return nil, explain(ctx, host, err)
	}
	response.Body = &body{ctx: ctx, cancel: cancel, host: host, left: g.options.MaxBody, of: g.options.MaxBody, from: response.Body}
	return response, nil
}

// CloseIdleConnections is what http.Client looks for.
func (g *guard) CloseIdleConnections() { g.next.CloseIdleConnections() }

// check says whether a URL may be asked at all, and names its host.
func (g *guard) check(u *url.URL) (host string, err error) {
	host, err = Host(u)
	if err != nil {
		return "", err
	}
	port := u.Port()
	switch {
	case port != "" && !g.options.port(port):
		return "", refused(host, "only the ports 80 and 443 are asked")
	case g.may != nil && !g.may(host):
		return "", refused(host, "it is none of the hosts that may be asked")
	}
	return host, nil
}

// Host is the host of a URL that may be asked: http or https, without a user
// and password. It is in lower case and, where it is a name, in its ASCII form,
// so that letters that look alike differ.
func Host(u *url.URL) (string, error) {
	name := strings.TrimSuffix(u.Hostname(), ".")
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", refused(cut(name), "only http and https are spoken")
	case u.User != nil:
		return "", refused(cut(name), "an address with a user name or password in it is not asked")
	case u.Opaque != "" || name == "" || len(name) > 253:
		return "", refused(cut(name), "its address is malformed")
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String(), nil
	}
	host, err := idna.Lookup.ToASCII(name)
	if err != nil || host == "" || strings.ContainsAny(host, ":%/") {
		return "", refused(cut(name), "its name is malformed")
	}
	return strings.ToLower(host), nil
}

// hostList is a test for a list of hosts.
func hostList(hosts []string) func(string) bool {
	exact, below := map[string]bool{}, []string{}
	for _, host := range hosts {
		name, wild := strings.CutPrefix(host, "*.")
		known, err := Host(&url.URL{Scheme: "https", Host: name})
		switch {
		case err != nil || known != strings.ToLower(name) && !hasUnicode(name):
		case wild:
			below = append(below, "."+known)
		default:
			exact[known] = true
		}
	}
	return func(host string) bool {
		if exact[host] {
			return true
		}
		for _, suffix := range below {
			if strings.HasSuffix(host, suffix) && len(host) > len(suffix) {
				return true
			}
		}
		return false
	}
}

func hasUnicode(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) >= 0
}

// body is an answer's body, bounded, whose errors name no address.
type body struct {
	ctx      context.Context
	cancel   context.CancelFunc
	host     string
	left, of int64
	from     io.ReadCloser
}

func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	// One byte more than is left tells an answer that just fits from one that
	// does not.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, refused(b.host, fmt.Sprintf("its answer is longer than %d bytes", b.of))
	}
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		err = explain(b.ctx, b.host, err)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.cancel()
	return b.from.Close()
}
