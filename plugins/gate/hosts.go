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
)

// normalHost is a host's name in the one form in which names are compared:
// lower case, in the letters of the DNS (RFC 3492), without a port and without
// the root's dot; an address as netip writes it. What it cannot read is an error.
func normalHost(host string) (string, error) {
	if name, port, err := net.SplitHostPort(host); err == nil && digits.MatchString(port) {
		host = name
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		host = strings.TrimSuffix(inner, "]")
	}
	if address, err := netip.ParseAddr(host); err == nil && address.Zone() == "" {
		return address.Unmap().String(), nil
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for i, label := range labels {
		normal, err := normalLabel(label)
		if err != nil {
			return "", err
		}
		labels[i] = normal
	}
	name := strings.Join(labels, ".")
	if len(name) > 253 {
		return "", errors.New("the host's name is too long")
	}
	return name, nil
}

var digits = regexp.MustCompile(`^[0-9]{1,5}$`)

func normalLabel(label string) (string, error) {
	const longest = 63
	if utf8.RuneCountInString(label) > longest {
		return "", errors.New("a part of the host's name is too long")
	}
	ascii := true
	var b strings.Builder
	for _, r := range label {
		switch {
		case r == unicode.ReplacementChar:
			return "", errors.New("the host's name is no text")
		case r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)):
			ascii = false
			b.WriteRune(unicode.ToLower(r))
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			return "", fmt.Errorf("a host's name has no %q", r)
		}
	}
	normal := b.String()
	if !ascii {
		normal = "xn--" + punycode(normal)
	}
	if normal == "" || len(normal) > longest {
		return "", errors.New("a part of the host's name is empty or too long")
	}
	return normal, nil
}

// named reports whether a host in normal form stands in text as it was typed:
// as the host of a URL, or alone, where it needs a dot. It stands there whole or
// not at all: not as a part of another name, of an address of mail, of a path or
// a query, nor before or behind an "@", which is how one host is made to look
// like another. In doubt it does not.
func named(text, host string) bool {
	for _, chunk := range strings.FieldsFunc(text, apart) {
		before, url, isURL := cutURL(chunk)
		if standsAlone(before, host) || isURL && isHostOf(url, host) {
			return true
		}
	}
	return false
}

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
