package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"hermes-hub/configs"
	"hermes-hub/router"
)

// reachIn bounds the attempt to reach one upstream, TLS included.
const reachIn = 3 * time.Second

// target is one place that accounts connect to: their upstream, or the proxy in front of it.
type target struct {
	scheme   string // https: a handshake belongs to it
	address  string // host:port
	proxied  string // the upstream's host, where address is a proxy's; "" = direct
	accounts []string
}

// examineUpstreams connects to every distinct upstream of the enabled accounts, all at once. It sends no request there
// but one, to one of them: for the time of day, without a credential. date is that time, zero when none was told.
func examineUpstreams(ctx context.Context, cfg *configs.Config) (findings []finding, date time.Time) {
	targets := targetsOf(cfg)
	if len(targets) == 0 {
		return []finding{{odd, "upstream", "no account is enabled"}}, time.Time{}
	}
	findings = make([]finding, len(targets))
	var all sync.WaitGroup
	for i := range targets {
		all.Go(func() { findings[i] = targets[i].examine(ctx) })
	}
	all.Wait()
	for i := range targets {
		if t := &targets[i]; findings[i].grade == fine && t.proxied == "" {
			return findings, t.date(ctx)
		}
	}
	return findings, time.Time{}
}

// targetsOf lists where the enabled accounts connect to, in file order.
func targetsOf(cfg *configs.Config) []target {
	var targets []target
	at := map[[3]string]int{}
	for i := range cfg.Profiles {
		p := &cfg.Profiles[i]
		if !p.Enabled {
			continue
		}
		t := targetOf(p)
		key := [3]string{t.scheme, t.address, t.proxied}
		if j, ok := at[key]; ok {
			targets[j].accounts = append(targets[j].accounts, p.ID)
			continue
		}
		at[key] = len(targets)
		t.accounts = []string{p.ID}
		targets = append(targets, t)
	}
	return targets
}

// targetOf is where an account's calls go first: through its own proxy, else the environment's, else straight.
func targetOf(p *router.Profile) target {
	upstream, err := url.Parse(p.BaseURL)
	if err != nil { // the configuration has been checked
		return target{address: p.BaseURL}
	}
	through, _ := http.ProxyFromEnvironment(&http.Request{URL: upstream})
	if p.ProxyURL != "" {
		through, _ = url.Parse(p.ProxyURL)
	}
	if through == nil {
		return target{scheme: upstream.Scheme, address: hostPort(upstream)}
	}
	return target{scheme: through.Scheme, address: hostPort(through), proxied: upstream.Hostname()}
}

func hostPort(u *url.URL) string {
	usual := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usual[u.Scheme]))
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func (t *target) examine(ctx context.Context) finding {
	what := t.address
	if t.proxied != "" {
		what = fmt.Sprintf("%s, the proxy to %s", t.address, t.proxied)
	}
	what += " (" + strings.Join(t.accounts, ", ") + ")"
	ctx, cancel := context.WithTimeout(ctx, reachIn)
	defer cancel()
	if err := t.connect(ctx); err != nil {
		return finding{broken, "upstream", what + ": " + unreachable(err)}
	}
	return finding{fine, "upstream", what + ": reachable"}
}

// connect opens a connection as an account's transport would, and closes it unused.
func (t *target) connect(ctx context.Context) error {
	var conn net.Conn
	var err error
	if t.scheme == "https" {
		conn, err = (&tls.Dialer{}).DialContext(ctx, "tcp", t.address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", t.address)
	}
	if err != nil {
		return err
	}
	_ = conn.Close() // nothing was sent
	return nil
}

// unreachable says why a connection failed, without repeating the address.
func unreachable(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name cannot be resolved: " + dns.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no connection within %s", reachIn)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	return err.Error()
}

// date asks for the time of day; zero when it is not told.
func (t *target) date(ctx context.Context) time.Time {
	ctx, cancel := context.WithTimeout(ctx, reachIn)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, t.scheme+"://"+t.address+"/", http.NoBody)
	if err != nil {
		return time.Time{}
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(req) // not a client: a redirect is an answer too
	if err != nil {
		return time.Time{}
	}
	defer res.Body.Close()
	date, _ := http.ParseTime(res.Header.Get("Date"))
	return date
}

const (
	slack    = 30 * time.Second // what tokens tolerate
	firstDay = 2026             // this program was not there before
	lastDay  = 2100
)

// examineClock holds this machine's clock against reason, and against another's when that is known. Reset times are
// compared with it, and tokens are good by it.
func examineClock(now, other time.Time) finding {
	text := now.UTC().Format(time.RFC3339)
	if y := now.UTC().Year(); y < firstDay || y >= lastDay {
		return finding{broken, "clock", text + " cannot be now: set the clock"}
	}
	if other.IsZero() {
		return finding{fine, "clock", text + ", compared with nobody's"}
	}
	off := now.Sub(other).Round(time.Second)
	if off.Abs() > slack {
		side := "ahead of"
		if off < 0 {
			side = "behind"
		}
		return finding{odd, "clock", fmt.Sprintf("%s is %s %s an upstream's: set the clock", text, off.Abs(), side)}
	}
	return finding{fine, "clock", text + ", as an upstream has it"}
}
