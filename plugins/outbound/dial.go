package outbound

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	// lookupTime bounds one question to DNS.
	lookupTime = 10 * time.Second
	// dialTime bounds the attempt at one address, and maxAddresses how many are
	// tried: a name may have thousands.
	dialTime     = 5 * time.Second
	maxAddresses = 4
)

// errNotPublic says no more than that: which address it is concerns nobody
// outside.
var errNotPublic = errors.New("it has no public address")

type dialer struct{ options Options }

// dial connects to the first address of a host that may be reached and answers.
func (d dialer) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	addresses, err := d.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	direct := net.Dialer{Timeout: dialTime, ControlContext: d.control}
	var failed error
	for _, a := range addresses {
		conn, err := direct.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

// addresses are those of a host that may be reached: at least one, or an error.
func (d dialer) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		// An IPv4 address in the clothes of an IPv6 one is nobody's spelling.
		if !d.options.may(literal) {
			return nil, errNotPublic
		}
		return []netip.Addr{literal}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := d.options.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i] = found[i].Unmap() // resolvers give A records in this form
	}
	found = slices.DeleteFunc(found, func(a netip.Addr) bool { return !d.options.may(a) })
	if len(found) == 0 {
		return nil, errNotPublic
	}
	return found[:min(len(found), maxAddresses)], nil
}

// control looks at the address to which a socket is about to connect. It is the
// last word, whatever went before it.
func (d dialer) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !d.options.may(target.Addr()) || !d.options.port(strconv.Itoa(int(target.Port()))) {
		return errNotPublic
	}
	return nil
}

// port reports whether a port may be asked.
func (o Options) port(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && (n == 80 || n == 443 || slices.Contains(o.Ports, uint16(n)))
}
