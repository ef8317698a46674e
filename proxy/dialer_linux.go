package proxy

import (
	"context"
	"syscall"
	"time"
)

// unacknowledged is how long an upstream may leave bytes unacknowledged, or its receive window shut, before its connection
// counts as dead. A server that is only slow to answer acknowledges at once.
const unacknowledged = 30 * time.Second

// tcpUserTimeout is TCP_USER_TIMEOUT (tcp(7)), in milliseconds; package syscall has no name for it.
const tcpUserTimeout = 18

// limitUnacknowledged sets the limit on a new socket.
func limitUnacknowledged(_ context.Context, _, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// A kernel that refuses it has a longer patience of its own; that is no reason not to connect.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unacknowledged.Milliseconds()))
	})
}
