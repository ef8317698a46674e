package hostname

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// request comes in on the address local, "" = unknown.
func request(t *testing.T, host, local string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody)
	r.Host = host
	if local == "" {
		return r
	}
	addr, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		t.Fatal(err)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
}

func TestNames(t *testing.T) {
	f := func(listen, local, host string, want bool) {
		t.Helper()
		names := Names{Listen: listen, Allowed: []string{"Hub.example", "proxy.example:8443", "[2001:db8::7]"}}
		if got := names.Include(request(t, host, local)); got != want {
			t.Errorf("listen %s, connection to %q, Host %q: got %v", listen, local, host, got)
		}
	}
	for _, host := range []string{
		"127.0.0.1:7401", "127.0.0.1", "localhost", "LOCALHOST:80", "localhost.:7401", "[::1]:7401", "[::1]", "127.8.9.10",
		"10.1.2.3:7401", "10.1.2.3", "hub.example", "hub.example:7401", "HUB.example.", "proxy.example", "[2001:db8::7]:7401",
	} {
		f("10.1.2.3:7401", "", host, true)
	}
	for _, host := range []string{
		"evil.test", "evil.test:7401", "localhost.evil.test", "127.0.0.1.evil.test", "hub.example.evil.test", "10.1.2.4", "0.0.0.0",
		"", ":7401", "x/healthz?y=", "localhost:7401/healthz", "localhost:", "localhost:x", "user@localhost", "local host", "::1",
		"[::1", "[localhost]", "127.0.0.1:7401:1", "localhost\n",
	} {
		f("10.1.2.3:7401", "", host, false)
	}
	f("0.0.0.0:7401", "", "10.1.2.3:7401", false)
	f("0.0.0.0:7401", "", "127.0.0.1:7401", true)

	// Listening everywhere, the hub is also meant by the address that a connection came in on, as a probe of the pod's IP is.
	f(":7401", "10.1.2.3:7401", "10.1.2.3:30000", true)
	f(":7401", "[::ffff:10.1.2.3]:7401", "10.1.2.3", true)
	f(":7401", "[2001:db8::1]:7401", "[2001:db8:0::1]:7401", true)
	f(":7401", "10.1.2.3:7401", "10.1.2.4:7401", false)
	f(":7401", "10.1.2.3:7401", "evil.test:7401", false)
}

func TestLoopbackAddress(t *testing.T) {
	f := func(address string, want bool) {
		t.Helper()
		if got := LoopbackAddress(address); got != want {
			t.Errorf("%q: got %v", address, got)
		}
	}
	f("127.0.0.1:7400", true)
	f("127.9.9.9:1", true)
	f("[::1]:7400", true)
	f("[::ffff:127.0.0.1]:7400", true)
	f("localhost:0", true)
	f(":7400", false)
	f("0.0.0.0:7400", false)
	f("[::]:7400", false)
	f("10.0.0.1:7400", false)
	f("hub.example:7400", false)
	f("127.0.0.1", false)
}

func FuzzNames(f *testing.F) {
	for _, host := range []string{"localhost:7400", "[::1]", "evil.test", "x/healthz?y=", "127.0.0.1.evil.test:80"} {
		f.Add(host)
	}
	names := Names{Listen: "127.0.0.1:7400", Allowed: []string{"hub.example"}}
	f.Fuzz(func(t *testing.T, host string) {
		if !names.Include(request(t, host, "")) {
			return
		}
		if only := hostOnly(host); !Loopback(only) && only != "hub.example" {
			t.Errorf("%q is accepted", host)
		}
	})
}
