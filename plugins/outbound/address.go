package outbound

import "net/netip"

// special4 are the parts of IPv4 that are not, or not surely, somebody's public
// server (IANA's registry of special-purpose addresses), and addresses at which
// clouds serve what is meant for the machine alone.
var special4 = prefixes(
	"0.0.0.0/8",        // this network, unspecified
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // between a carrier and its customers; a cloud's metadata
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // a cloud's service for its machines
	"169.254.0.0/16",   // link-local; most clouds' metadata
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocols; a cloud's metadata
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // relays of 6to4
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast
)

// Of IPv6 only global unicast is public, without the parts of it that stand
// for something else. So mapped, translated (64:ff9b::/96, 64:ff9b:1::/48),
// link-local, unique local, site-local and multicast addresses are out.
var (
	global6  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes(
		"2001::/23",     // protocols, among them Teredo, which holds IPv4 addresses
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which holds IPv4 addresses
		"3fff::/20",     // documentation
	)
)

// public reports whether an address is that of a public server, as far as an
// address can tell.
func public(a netip.Addr) bool {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return false
	case a.Is4():
		return !within(special4, a)
	}
	return global6.Contains(a) && !within(special6, a)
}

// may reports whether a connection to an address may be made.
func (o Options) may(a netip.Addr) bool { return public(a) || within(o.Allow, a) }

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}
