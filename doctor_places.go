package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes-hub/configs"
	"hermes-hub/runs/redisstore"
)

// examinePort tells whether a plane could listen on its address. An address that a running hub holds is in good hands.
func examinePort(ctx context.Context, plane, address string) finding {
	f := finding{fine, "port", fmt.Sprintf("%s plane, %s: free", plane, address)}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		l.Close() //nolint:errcheck // nobody has connected
		return f
	}
	if hubAt(ctx, address) {
		f.text = fmt.Sprintf("%s plane, %s: held by a running hub", plane, address)
		return f
	}
	f.grade, f.text = broken, fmt.Sprintf("%s plane, %s: %v", plane, address, unreachable(err))
	return f
}

// hubAt reports whether a hub answers at the address: every answer of one carries its own request id.
func hubAt(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/doctor", http.NoBody)
	if err != nil {
		return false
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy: it is this machine that is asked
	res, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.Header.Get("X-Hub-Request-Id") != ""
}

// examineDataDir tells whether the hub could keep its state, without making the folder.
func examineDataDir(dir string) finding {
	if dir == "" {
		return finding{broken, "data dir", "none: neither server.data_dir, XDG_DATA_HOME nor HOME is set"}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return examineMissingDir(dir)
	case err != nil:
		return finding{broken, "data dir", err.Error()}
	case !info.IsDir():
		return finding{broken, "data dir", dir + " is not a folder"}
	}
	if err := writable(dir); err != nil {
		return finding{broken, "data dir", fmt.Sprintf("%s cannot be written to: %v", dir, err)}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return finding{odd, "data dir", fmt.Sprintf("%s is open to others (mode %04o): chmod 700 it", dir, mode)}
	}
	return finding{fine, "data dir", dir + ": writable, and nobody else's"}
}

// examineMissingDir looks at the folder in which the data dir would be made.
func examineMissingDir(dir string) finding {
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		if errors.Is(err, fs.ErrNotExist) && above != filepath.Dir(above) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", above)
		}
		if err == nil {
			err = writable(above)
		}
		if err != nil {
			return finding{broken, "data dir", fmt.Sprintf("%s cannot be made: %v", dir, err)}
		}
		return finding{fine, "data dir", dir + ": will be made at the first start"}
	}
}

// writable tries with a file that is gone again at once.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".hermes-hub-doctor-*")
	if err != nil {
		return cause(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// cause is what went wrong with a file, without the path that the line names already.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// examineRedis tells whether the Redis that is to be shared answers, and whether it keeps what it is given.
func examineRedis(ctx context.Context, cfg *configs.Config, offline bool) finding {
	switch {
	case cfg.Server.RedisURL.Empty():
		return finding{fine, "redis", "not configured: this hub shares its state with no other"}
	case offline:
		return finding{fine, "redis", "not looked at: --offline"}
	}
	client, err := newRedis(cfg.Server.RedisURL.Reveal(), slog.New(slog.DiscardHandler))
	if err != nil {
		return finding{broken, "redis", err.Error()}
	}
	defer client.Close()
	warnings, err := redisstore.New(client, redisstore.Options{}).Check(ctx)
	switch {
	case err != nil:
		return finding{broken, "redis", strings.TrimPrefix(err.Error(), "check: ") + ": runs are kept in memory until it does"}
	case len(warnings) > 0:
		return finding{odd, "redis", strings.Join(warnings, "; ")}
	}
	return finding{fine, "redis", "answers, and keeps what it is given"}
}
