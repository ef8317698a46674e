package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"hermes-hub/quota"
)

// broken is the reading of an answer that is none, whatever its status said.
func broken(reason string) quota.Reading {
	return quota.Reading{Class: quota.ServerError, Scope: quota.ScopeProvider, Failover: true, Source: quota.SourceRuntimeEvent, Reason: reason}
}

func late(reason string) quota.Reading {
	r := broken(reason)
	r.Class = quota.Timeout
	return r
}

// lostReading says why a call ended without a whole answer, from the reason its context was cancelled for, if it was, and
// the error that Go's client reported. The reason names the kind of fault and never a host.
func lostReading(cause, err error) quota.Reading {
	switch {
	case errors.Is(cause, errFirstToken):
		return late("first_token_timeout")
	case errors.Is(cause, errIdle):
		return late("idle_timeout")
	}
	var dns *net.DNSError
	var op *net.OpError
	var stream streamError
	switch {
	case errors.As(err, &dns):
		return broken("dns_failure")
	case isTLS(err):
		return broken("tls_failure")
	case errors.Is(err, syscall.ECONNREFUSED):
		return broken("connection_refused")
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return late("connect_timeout")
	case errors.As(err, &op) && op.Op == "dial":
		return broken("connect_failure")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.As(err, &stream):
		return broken("connection_reset")
	case errors.Is(err, syscall.ETIMEDOUT): // keepalives and resent bytes: the kernel has heard nothing of the other end
		return late("connection_dead")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return broken("connection_closed")
	case isTimeout(err): // of the limits that the transport has itself only this one is left: the TLS handshake's
		return late("connect_timeout")
	case errors.Is(err, errAnswerTooLarge):
		return broken("answer_too_large")
	case errors.Is(err, errEncoding):
		return broken("unasked_encoding")
	default:
		return broken("malformed_response")
	}
}

// ownLimit reports whether a call could not be made for want of something that the hub's own system lacks: nothing that an
// account could be blamed for, and nothing that another account would cure. A failed look-up keeps its cause as text.
func ownLimit(err error) bool {
	var dns *net.DNSError
	looked := errors.As(err, &dns)
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}, func(limit error) bool {
		return errors.Is(err, limit) || looked && strings.Contains(dns.Err, limit.Error())
	})
}

// streamError has the fields of the error by which net/http tells that one stream of an HTTP/2 connection was reset. That
// type has no name outside, but fills in any that is like it.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error says what the type says.
func (streamError) Error() string { return "stream reset" }

// isTLS reports whether a handshake failed: by a certificate, by an alert of either side, or because the other side speaks
// no TLS, or only a version that is refused. Some errors of crypto/tls have no type of their own, but all have its prefix.
func isTLS(err error) bool {
	var (
		record    tls.RecordHeaderError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		alert     *net.OpError
	)
	return errors.As(err, &record) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error") ||
		errors.Is(err, http.ErrSchemeMismatch) || strings.HasPrefix(err.Error(), "tls: ")
}
