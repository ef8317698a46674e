package proxy

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An upstream that has vanished without a word is noticed: by keepalives on a silent connection, by unacknowledged bytes on
// one that has just been written to. What the kernel was asked for is read back from a socket of the transport's own.
func TestDeadConnectionsAreNoticed(t *testing.T) {
	base := strings.TrimSuffix(strings.TrimPrefix(listening(t), "http://"), "/v1")
	c, err := newTransport("", time.Second).DialContext(t.Context(), "tcp", base)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, level, option, want int) {
		t.Helper()
		var got int
		var no error
		if err := raw.Control(func(fd uintptr) { got, no = syscall.GetsockoptInt(int(fd), level, option) }); err != nil || no != nil {
			t.Fatal(err, no)
		}
		if got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	f("SO_KEEPALIVE", syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1)
	f("TCP_KEEPIDLE", syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, 15)
	f("TCP_KEEPINTVL", syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, 15)
	f("TCP_KEEPCNT", syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, 3)
	f("TCP_USER_TIMEOUT", syscall.IPPROTO_TCP, tcpUserTimeout, 30_000)
	if reason := lostReading(nil, &net.OpError{Op: "read", Err: syscall.ETIMEDOUT}).Reason; reason != "connection_dead" {
		t.Errorf("what the kernel says then is called %s", reason)
	}
}

// fullBacklog is the base URL of a server whose queue of connections is full: the kernel lets a new one hang.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
	for range 8 {
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		stop()
		if err != nil {
			return "http://" + address + "/v1"
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Fatal("the kernel goes on taking connections that nobody accepts")
	return ""
}
