package proxy

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes-hub/router"
)

// shortConnect is the rig's connect timeout where connecting is to fail.
const shortConnect = 300 * time.Millisecond

// Faults between the hub and an account: whatever it is, the next account answers, the trail says what it was in a word of
// a closed set, and neither the client nor the trail is told a host, an address or a certificate's name (row 10, L03, P08).
func TestNetworkFaults(t *testing.T) {
	resolveNowhere(t)
	ca := newAuthority(t)
	f := func(name, base, class, reason string, prepare ...func(*rig)) {
		t.Run(name, func(t *testing.T) {
			steady(t)
			s := behind(base)
			if class == "timeout" || strings.Contains(base, "slow") {
				s.config = func(c *Config) { c.ConnectTimeout = shortConnect }
			}
			r := newRig(t, s)
			for _, p := range prepare {
				p(r)
			}
			got := r.chat(ask)
			r.want(got, "200 profile=b attempts=2 after="+class)
			r.ended(1, "success")
			if x := r.told.last(); x.Attempts[0].Reason != reason || x.Attempts[0].Status != 0 {
				t.Errorf("the attempt came to %s, status %d; want %s", x.Attempts[0].Reason, x.Attempts[0].Status, reason)
			}
			host := strings.TrimSuffix(strings.SplitN(base, "://", 2)[1], "/v1")
			trail, _ := r.trails.Find(got.header.Get(headerRequestID))
			for _, text := range []string{got.body, fmt.Sprint(got.header), fmt.Sprintf("%+v", trail), r.log.String()} {
				if strings.Contains(text, host) {
					t.Errorf("%s stands in %s", host, text)
				}
			}
		})
	}
	tlsCase := func(name, reason, class string, made func(*x509.Certificate), change func(*tls.Config), trusted bool) {
		server := ca.serve(t, made, change)
		f(name, server, class, reason, func(r *rig) {
			p, _ := r.router.Snapshot().Table.Profile("a")
			transport := r.proxy.own.of(p).(*profileTransport)
			if transport.TLSClientConfig != nil && transport.TLSClientConfig.InsecureSkipVerify {
				t.Error("certificates are not verified")
			}
			if trusted {
				transport.TLSClientConfig = &tls.Config{RootCAs: ca.pool}
			}
		})
	}
	f("refused", refusing(t), "server_error", "connection_refused")
	if full := fullBacklog(t); full != "" {
		f("nobody accepts", full, "timeout", "connect_timeout")
	}
	f("no such host", "http://nx.invalid/v1", "server_error", "dns_failure")
	f("a resolver that does not answer", "http://slow.invalid/v1", "server_error", "dns_failure")
	f("not TLS", strings.Replace(plainly(t), "http:", "https:", 1), "server_error", "tls_failure")
	f("handshake stalls", strings.Replace(listening(t), "http:", "https:", 1), "timeout", "connect_timeout")
	tlsCase("certificate expired", "tls_failure", "server_error", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }, nil, true)
	tlsCase("another host's certificate", "tls_failure", "server_error", func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.test"} }, nil, true)
	tlsCase("unknown authority", "tls_failure", "server_error", nil, nil, false)
	tlsCase("TLS 1.0 alone", "tls_failure", "server_error", nil, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS10 }, true)
	tlsCase("a client certificate is wanted", "tls_failure", "server_error", nil, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }, true)
}

// The same server with nothing wrong serves, over HTTP/1.1 and over HTTP/2: the faults above are faults and not the rig.
func TestTLSServes(t *testing.T) {
	ca := newAuthority(t)
	for _, protocols := range [][]string{{"http/1.1"}, {"h2", "http/1.1"}} {
		base := ca.serve(t, nil, func(c *tls.Config) { c.NextProtos = protocols })
		r := newRig(t, behind(base))
		p, _ := r.router.Snapshot().Table.Profile("a")
		r.proxy.own.of(p).(*profileTransport).TLSClientConfig = &tls.Config{RootCAs: ca.pool}
		r.want(r.chat(ask), "200 profile=a attempts=1")
		r.want(r.chat(strings.Replace(ask, "hi", "break off", 1)), "200 profile=b attempts=2 after=server_error")
		r.ended(2, "success")
		want := map[string]string{"h2": "connection_reset", "http/1.1": "connection_closed"}[protocols[0]]
		if reason := r.told.last().Attempts[0].Reason; reason != want {
			t.Errorf("%s: %s, want %s", protocols[0], reason, want)
		}
	}
}

// An upstream that takes the request and never answers: a stream goes to the next account when its first token is due. (A
// whole answer may take as long as the request may: TestDeadlines.)
func TestHalfOpenUpstream(t *testing.T) {
	steady(t)
	s := behind(listening(t))
	s.config = func(c *Config) { c.FirstTokenTimeout = 200 * time.Millisecond }
	r := newRig(t, s)
	r.want(r.chat(askStream), "200 profile=b attempts=2 after=timeout [DONE]")
	r.ended(1, "success")
	if reason := r.told.last().Attempts[0].Reason; reason != "first_token_timeout" {
		t.Error(reason)
	}
}

// What the hub's own system lacks is nobody's fault and no other account's chance: the client is asked to come again, and no
// account is rested.
//
// Regression: with no descriptor left every account of the role was called down ("connect_failure") and rested for minutes
// after the shortage was over.
func TestOwnLimits(t *testing.T) {
	f := func(err error) {
		t.Helper()
		r := newRig(t, setup{})
		r.proxy.transport = func(*router.Profile) http.RoundTripper { return failing{err} }
		r.want(r.chat(ask), "503 attempts=1 retry=1 code=hub_unavailable")
		r.ended(1, "hub_unavailable")
		r.blameless()
	}
	f(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)})
	f(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.ENFILE)})
	f(&net.DNSError{Err: "dial udp 127.0.0.53:53: socket: too many open files", Name: "api.test", Server: "127.0.0.53:53"})
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// plainly is the base URL of a server that speaks no TLS.
func plainly(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// refusing is the base URL of a port on which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/v1"
}

// listening is the base URL of a server that takes connections and never says a word.
func listening(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// resolveNowhere makes every name unknown, as the top-level domain invalid is everywhere, without asking the network. For a
// name with "slow" in it that takes longer than anybody waits.
func resolveNowhere(t *testing.T) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			packet := make([]byte, 1500)
			n, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			packet[2] |= 0x80                     // a response
			packet[3] = packet[3]&0xf0 | 0x80 | 3 // NXDOMAIN
			after := time.Duration(0)
			if bytes.Contains(packet[:n], []byte("slow")) {
				after = 2 * shortConnect
			}
			time.AfterFunc(after, func() { _, _ = server.WriteTo(packet[:n], from) })
		}
	})
	t.Cleanup(func() {
		net.DefaultResolver = before
		server.Close()
		served.Wait()
	})
}

// authority signs certificates for servers on the loopback interface.
type authority struct {
	pool *x509.CertPool
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{pool: x509.NewCertPool()}
	a.cert, a.key = a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority.test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a.pool.AddCert(a.cert)
	return a
}

// sign makes a certificate of the template, signed by the authority, or by itself where there is none yet.
func (a *authority) sign(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	template.NotBefore = time.Now().Add(-24 * time.Hour)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// serve answers completions over TLS, with what is made of the certificate and of the settings, and returns the base URL.
func (a *authority) serve(t *testing.T, made func(*x509.Certificate), change func(*tls.Config)) string {
	t.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "server.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	if made != nil {
		made(template)
	}
	cert, key := a.sign(t, template)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("break off")) {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"over TLS"},"finish_reason":"stop"}]}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the handshakes that are meant to fail
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}}
	if change != nil {
		change(s.TLS)
	}
	s.EnableHTTP2 = slices.Contains(s.TLS.NextProtos, "h2")
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}
