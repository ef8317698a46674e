package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
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
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return broken("connection_reset")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return broken("connection_closed")
	case isTimeout(err):
		return late("timeout")
	default:
		return broken("malformed_response")
	}
}

func isTLS(err error) bool {
	var (
		alert     tls.AlertError
		record    tls.RecordHeaderError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &alert) || errors.As(err, &record) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
