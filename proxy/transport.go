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
	mu             sync.RWMutex
	connectTimeout time.Duration
	byID           map[string]*profileTransport // by profile id
}

type profileTransport struct {
	proxyURL       string
	connectTimeout time.Duration
	*http.Transport
}

func newTransports(connectTimeout time.Duration) *transports {
	return &transports{connectTimeout: connectTimeout, byID: map[string]*profileTransport{}}
}

// of returns the profile's transport. A profile whose proxy or connect timeout changed in a reload gets a new one; calls
// under way finish on the old.
func (t *transports) of(p *router.Profile) http.RoundTripper {
	t.mu.RLock()
	have := t.fitting(p)
	t.mu.RUnlock()
	if have != nil {
		return have
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have = t.fitting(p); have != nil {
		return have
	}
	if old := t.byID[p.ID]; old != nil {
		old.CloseIdleConnections()
	}
	made := &profileTransport{p.ProxyURL, t.connectTimeout, newTransport(p.ProxyURL, t.connectTimeout)}
	t.byID[p.ID] = made
	return made
}

// fitting is the transport that p has, nil when it has none or the one of an earlier configuration. It runs under mu.
func (t *transports) fitting(p *router.Profile) *profileTransport {
	have := t.byID[p.ID]
	if have == nil || have.proxyURL != p.ProxyURL || have.connectTimeout != t.connectTimeout {
		return nil
	}
	return have
}

// reset takes over another configuration. An account that is no longer in it gives its idle connections back now; the
// others keep theirs as long as they fit.
func (t *transports) reset(connectTimeout time.Duration, table *router.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.connectTimeout = connectTimeout
	for id, have := range t.byID {
		p, ok := table.Profile(id)
		if ok && t.fitting(p) == have {
			continue
		}
		delete(t.byID, id)
		have.CloseIdleConnections()
	}
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
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            newDialer(connectTimeout).DialContext,
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

// newDialer notices when the other end has vanished without a word (a laptop that slept, a path that changed): by
// keepalives where nothing is under way, by unacknowledged bytes where something is. Without the second a request that was
// written to a dead idle connection hangs for a quarter of an hour.
func newDialer(connectTimeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout:         connectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3},
		ControlContext:  limitUnacknowledged,
	}
}
