package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// Error says why a host gave no answer, in words that are fit for a model: no
// address, no resolver, nothing of the machine's network.
type Error struct {
	Host string
	Why  string
	// Refused: it was not asked, or not further, because it may not be.
	Refused bool

	cause error
}

func (e *Error) Error() string {
	if e.Host == "" {
		return e.Why
	}
	return e.Host + ": " + e.Why
}

func (e *Error) Unwrap() error { return e.cause }

// Timeout reports whether it took too long.
func (e *Error) Timeout() bool { return e.Why == tooLong }

const tooLong = "it took too long"

func refused(host, why string) *Error { return &Error{Host: host, Why: why, Refused: true} }

// explain puts what went wrong in plain words. Only the end of a context is
// kept as a cause: everything else may name addresses.
func explain(ctx context.Context, host string, err error) error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	e := &Error{Host: cut(host), Why: "the connection broke off"}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	timeout, isTimeout := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errNotPublic):
		e.Why, e.Refused = "it has no public address that may be asked", true
	case errors.Is(ctx.Err(), context.Canceled):
		e.Why, e.cause = "the call was cut", context.Canceled
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		e.Why, e.cause = tooLong, context.DeadlineExceeded
	case isDNS && dns.IsNotFound:
		e.Why = "there is no host of that name"
	case isDNS:
		e.Why = "its name could not be looked up"
	case isTimeout && timeout.Timeout():
		e.Why, e.cause = tooLong, context.DeadlineExceeded
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		e.Why = "it does not answer"
	case isTLS(err):
		e.Why = "its certificate is not valid for it, or it does not speak TLS"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
	case strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "server response headers exceeded"):
		e.Why = "what it answers is not proper HTTP"
	}
	return e
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.HostnameError](err)
	return ok
}

// cut bounds a name that somebody else wrote.
func cut(name string) string {
	if len(name) > 253 {
		name = strings.ToValidUTF8(name[:253], "")
	}
	return name
}
