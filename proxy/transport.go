package proxy

import (
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"hermes-hub/router"
)

// transports holds one http.Transport per profile, so that one account's connections, proxy and trouble are its own.
type transports struct {
	connectTimeout time.Duration

	mu   sync.RWMutex
	byID map[string]*profileTransport // by profile id
}

type profileTransport struct {
	proxyURL string
	*http.Transport
}

func newTransports(connectTimeout time.Duration) *transports {
	return &transports{connectTimeout: connectTimeout, byID: map[string]*profileTransport{}}
}

// of returns the profile's transport. A profile whose proxy changed in a reload gets a new one; calls under way finish on
// the old.
func (t *transports) of(p *router.Profile) http.RoundTripper {
	t.mu.RLock()
	have := t.byID[p.ID]
	t.mu.RUnlock()
	if have != nil && have.proxyURL == p.ProxyURL {
		return have
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have = t.byID[p.ID]; have != nil && have.proxyURL == p.ProxyURL {
		return have
	}
	if have != nil {
		have.CloseIdleConnections()
	}
	made := &profileTransport{p.ProxyURL, newTransport(p.ProxyURL, t.connectTimeout)}
	t.byID[p.ID] = made
	return made
}

// closeIdle gives every idle connection back, at the end of the process.
func (t *transports) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.byID {
		p.CloseIdleConnections()
	}
}

// newTransport differs from the default one where that would hurt: it keeps enough idle connections for every slot, never
// asks for compression, which would hold a stream back, and drops an idle connection before the usual 60 seconds of
// upstreams do, because a POST that races such a close fails.
func newTransport(proxyURL string, connectTimeout time.Duration) *http.Transport {
	dialer := &net.Dialer{
		Timeout:         connectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3},
	}
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		MaxIdleConnsPerHost:    512,
		IdleConnTimeout:        45 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
	if proxyURL != "" {
		t.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxyURL) }
	}
	return t
}
