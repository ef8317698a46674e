//go:build !linux

package proxy

import (
	"context"
	"syscall"
)

// limitUnacknowledged leaves the limit to the system: only Linux lets one be set.
func limitUnacknowledged(context.Context, string, string, syscall.RawConn) error { return nil }
