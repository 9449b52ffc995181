package gate

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// normalHost is a host's name in the one form in which names are compared:
// lower case, in the letters of the DNS, without a port and without
// the root's dot; an address as netip writes it. What it cannot read is an error.
func normalHost(host string) (string, error) {
	if name, port, err := net.SplitHostPort(host); err == nil && digits.MatchString(port) {
		host = name
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		host = strings.TrimSuffix(inner, "]")
	}
	if !utf8.ValidString(host) || strings.ContainsRune(host, utf8.RuneError) {
		return "", errors.New("the host's name is no text")
	}
	if address, err := netip.ParseAddr(host); err == nil && address.Zone() == "" {
		return address.Unmap().String(), nil
	}
	name, err := lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil {
		return "", fmt.Errorf("the host's name is none: %w", err)
	}
	if len(name) > 253 || !hostName.MatchString(name) {
		return "", errors.New("the host's name is none")
	}
	return name, nil
}

var (
	digits = regexp.MustCompile(`^[0-9]{1,5}$`)
	// hostName is labels of letters, digits, "-" and "_", each of 63 at most.
	hostName = regexp.MustCompile(`^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$`)
	// lookup writes names as clients do that look them up (UTS 46), so that what is
	// compared is what would be reached.
	lookup = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false))
)

// named reports whether a host in normal form stands in text as it was typed:
// as the host of a URL, or alone, where it needs a dot. It stands there whole or
// not at all: not as a part of another name, of an address of mail, of a path or
// a query, nor before or behind an "@", which is how one host is made to look
// like another. In doubt it does not.
func named(text, host string) bool {
	for _, chunk := range strings.FieldsFunc(text, apart) {
		if strings.ContainsFunc(chunk, unseen) {
			continue
		}
		before, url, isURL := cutURL(chunk)
		if standsAlone(before, host) || isURL && isHostOf(url, host) {
			return true
		}
	}
	return false
}

// unseen are characters that a look-up passes over or takes for a dot, and that
// whoever reads a name does not.
func unseen(r rune) bool { return unicode.Is(unicode.Cf, r) || strings.ContainsRune("。．｡", r) }

// apart are characters that no URL holds.
func apart(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>\"`|“”„«»", r) }

// cutURL parts a chunk into what stands before a URL's scheme and what stands
// behind its "://".
func cutURL(chunk string) (before, url string, found bool) {
	scheme, url, found := strings.Cut(chunk, "://")
	if !found {
		return chunk, "", false
	}
	return strings.TrimRightFunc(scheme, func(r rune) bool {
		return r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+-.", r))
	}), url, true
}

// around is what may stand beside a host's name without being a part of it.
const around = ".,;:!?()[]{}'’‘*_~"

// isHostOf reports whether host is that of a URL whose scheme is cut off.
func isHostOf(url, host string) bool {
	authority := url
	if end := strings.IndexAny(url, "/?#"); end >= 0 {
		authority = url[:end]
	} else {
		authority = strings.TrimRight(authority, ".,;:!?(){}'’‘*_~")
	}
	if strings.ContainsAny(authority, `@\%`) {
		return false
	}
	found, err := normalHost(authority)
	return err == nil && found == host
}

// nameable: a host's name that no word of a language is.
func nameable(host string) bool { return strings.ContainsAny(host, ".:") }

// standsAlone reports whether host is one of the names in a chunk that holds no
// URL's scheme.
func standsAlone(chunk, host string) bool {
	if strings.ContainsAny(chunk, `@\%`) || !nameable(host) {
		return false
	}
	// A path or a query, and all behind it, is not a name.
	rest := chunk
	if end := strings.IndexAny(chunk, "/?#=&"); end >= 0 {
		rest = chunk[:end]
	}
	if found, err := normalHost(strings.Trim(rest, around)); err == nil && found == host {
		return true
	}
	for _, piece := range strings.FieldsFunc(rest, func(r rune) bool { return r != '.' && r != '_' && strings.ContainsRune(around, r) }) {
		if found, err := normalHost(strings.Trim(piece, around)); err == nil && found == host {
			return true
		}
	}
	return false
}
