package outbound

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsPublic(t *testing.T) {
	tests := map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "93.184.216.34": true, "172.15.255.255": true, "172.32.0.1": true,
		"100.63.255.255": true, "100.128.0.1": true, "2606:4700:4700::1111": true, "2a00:1450:4001::1": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.1": false, "100.100.100.200": false,
		"127.0.0.1": false, "127.255.255.254": false, "169.254.169.254": false, "168.63.129.16": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.1.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.9": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,

		"::": false, "::1": false, "::127.0.0.1": false, "::8.8.8.8": false,
		"::ffff:127.0.0.1": false, "::ffff:8.8.8.8": false, "::ffff:0:127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::808:808": false, "64:ff9b:1::a00:1": false,
		"100::1": false, "2001::1": false, "2001:0:4136:e378:8000:63bf:3fff:fdd2": false, "2001:10::1": false, "2001:20::1": false,
		"2001:db8::1": false, "2002:7f00:1::": false, "2002:808:808::1": false, "3fff::1": false, "5f00::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false,
		"2606:4700::1%eth0": false,
	}
	for text, want := range tests {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("public(%s) = %v", text, got)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// Whatever the standard library calls by a name for what is not global is not
// public, and neither is an IPv4 address of that kind in whichever IPv6 form.
func TestNothingThatIsPrivateIsPublic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		four := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "four")))
		if (four.IsPrivate() || four.IsLoopback() || four.IsLinkLocalUnicast() || four.IsMulticast() || four.IsUnspecified()) && public(four) {
			t.Fatalf("%s is public", four)
		}
		sixteen := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "sixteen"))
		six := netip.AddrFrom16(sixteen)
		if (!six.IsGlobalUnicast() || six.IsPrivate() || six.Is4In6()) && public(six) {
			t.Fatalf("%s is public", six)
		}
		for _, prefix := range []string{"64:ff9b::", "::ffff:0:0", "::", "2002::", "2001::"} {
			form := netip.MustParseAddr(prefix).As16()
			at := 12
			if prefix == "2002::" {
				at = 2
			}
			copy(form[at:], four.AsSlice())
			if public(netip.AddrFrom16(form)) {
				t.Fatalf("%s is public", netip.AddrFrom16(form))
			}
		}
	})
}

// The last look, as a socket connects, stands by itself.
func TestTheLastLook(t *testing.T) {
	d := dialer{options: Options{Ports: []uint16{8080}}}
	for address, may := range map[string]bool{
		"8.8.8.8:443": true, "8.8.8.8:8080": true, "[2606:4700::1111]:80": true,
		"8.8.8.8:22": false, "127.0.0.1:80": false, "[::1]:443": false, "[::ffff:8.8.8.8]:443": false, "169.254.169.254:80": false,
		"nonsense": false, "example.com:80": false, "": false,
	} {
		if err := d.control(t.Context(), "tcp", address, nil); (err == nil) != may {
			t.Errorf("%s: %v", address, err)
		}
	}
}
