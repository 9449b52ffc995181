// Package outbound makes HTTP clients for addresses that somebody else chose: a
// model, a page, a person. They connect only to what was checked:
//
//	http.Client        follows a redirect only where the next hop may be asked
//	  guard.RoundTrip  scheme, user info, port and host of every single request
//	    dialer.dial    asks DNS, and leaves out what is not public
//	      control      looks at the address once more as the socket connects
//
// A connection is made to an address that was looked at, never to a name: what
// DNS answers the next time changes nothing. No proxy is taken from the
// environment, for it would connect in our place. Errors name no address: they
// are fit for a model to read.
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Options say what is reached, and how much of it is taken. The zero value is
// what is meant for use.
type Options struct {
	// Allow are networks that are reached although they are not public, Ports
	// are those beside 80 and 443, and RootCAs sign certificates in place of
	// those that the machine trusts. They are for tests.
	Allow   []netip.Prefix
	Ports   []uint16
	RootCAs *x509.CertPool
	// Resolver answers for names; nil: the machine's own.
	Resolver Resolver
	// MaxBody is how much of an answer can be read, in bytes, after it was
	// unpacked: 16 MiB.
	MaxBody int64
	// Timeout bounds one request with its body, and each redirect: 2 min.
	Timeout time.Duration
}

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// MaxRedirects is how many redirects Client follows.
const MaxRedirects = 5

// Client reaches these hosts alone, and follows redirects between them. A host
// is a name without a port; "*.example.com" is any name below it. What is no
// such name stands for nothing.
func (o Options) Client(hosts ...string) *http.Client {
	client := o.client(hostList(hosts))
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		switch {
		case len(via) > MaxRedirects:
			return refused(next.URL.Hostname(), "it redirects too often")
		case via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
			return refused(next.URL.Hostname(), "it redirects from https to http")
		}
		return nil // the guard looks at all else
	}
	return client
}

// Any reaches every public host, and hands redirects to its caller.
func (o Options) Any() *http.Client {
	client := o.client(nil)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// client reaches the hosts that may; nil: all.
func (o Options) client(may func(host string) bool) *http.Client {
	o = o.withDefaults()
	d := dialer{options: o}
	return &http.Client{
		Transport: &guard{options: o, may: may, next: &http.Transport{
			Proxy:                  nil,
			DialContext:            d.dial,
			ForceAttemptHTTP2:      true,
			TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs},
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConns:           16,
			MaxConnsPerHost:        16,
			IdleConnTimeout:        30 * time.Second,
		}},
	}
}

func (o Options) withDefaults() Options {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.MaxBody == 0 {
		o.MaxBody = 16 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	return o
}
