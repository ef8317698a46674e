package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestRedisURL(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		o, err := redisOptions(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			return
		}
		c := redis.NewUniversalClient(o)
		defer c.Close() //nolint:errcheck // it was never used
		kind := strings.TrimPrefix(fmt.Sprintf("%T", c), "*redis.")
		got := fmt.Sprintf("%s %s db=%d %q %q", kind, strings.Join(o.Addrs, " "), o.DB, o.Username, o.Password)
		if o.TLSConfig != nil {
			got += " tls"
		}
		if o.MasterName != "" {
			got += " master=" + o.MasterName
		}
		if got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
	f("redis://cache", `Client cache:6379 db=0 "" ""`)
	f("redis://cache:7000/3", `Client cache:7000 db=3 "" ""`)
	f("redis://cache/", `Client cache:6379 db=0 "" ""`)
	f("redis://:p%40ss%2F@cache", `Client cache:6379 db=0 "" "p@ss/"`)
	f("redis://hub:a:b@cache", `Client cache:6379 db=0 "hub" "a:b"`)
	f("redis://hub:a@b@cache", `Client cache:6379 db=0 "hub" "a@b"`)
	f("rediss://[::1]:6380", `Client [::1]:6380 db=0 "" "" tls`)
	f("redis://[::1]", `Client [::1]:6379 db=0 "" ""`)
	f("redis://a:1,b,[::1]", `ClusterClient a:1 b:6379 [::1]:6379 db=0 "" ""`)
	f("rediss://:p@a:1,b:2/0", `ClusterClient a:1 b:2 db=0 "" "p" tls`)
	f("redis+sentinel://:p@a,b:2/4?master=the-one", `Client a:26379 b:2 db=4 "" "p" master=the-one`)
}

// What is wrong with a URL is said without any part of it, and so is what the driver reports.
func TestRedisURLErrors(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		_, err := newRedis(address, slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), "server.redis_url: "+want) {
			t.Errorf("%s: %v, want %s", address, err, want)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error tells the password: %v", address, err)
		}
	}
	f("http://:canary@cache", "want a URL that begins with")
	f("canary", "want a URL that begins with")
	f("redis://", "a host is missing")
	f("redis://:canary@", "a host is missing")
	f("redis://:can/ary@cache", "a host is missing or is none")
	f("redis://:canary%@cache", "the user or the password holds a %")
	f("redis://:canary@ca che", "a host is missing or is none")
	f("redis://:canary@h::1", "a host is missing or is none")
	f("redis://:canary@cache:0", "a host's port")
	f("redis://:canary@cache:canary", "a host's port")
	f("redis://:canary@cache/canary", "what follows the / must be")
	f("redis://:canary@cache/-1", "what follows the / must be")
	f("redis://:canary@a,b/1", "several hosts are a cluster")
	f("redis://:canary@cache?master=canary", "want no parameter")
	f("redis+sentinel://:canary@cache", "redis+sentinel:// needs ?master")
	f("redis+sentinel://:canary@cache?db=canary", "want no parameter")
	f("redis+sentinel://:canary@cache?%zzcanary", "what follows the ? is no query")

	var log bytes.Buffer
	redisLog{slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}.Printf(t.Context(), "failed to dial: %v", "canary:6379")
	if got := log.String(); strings.Contains(got, "canary") || !strings.Contains(got, "failed to dial") {
		t.Errorf("the log has %s", got)
	}
}
