package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// How long one step of a call to Redis may take. Nobody's answer waits for any of them, but a page of a run does.
const (
	redisDialsFor = 300 * time.Millisecond
	redisWaitsFor = time.Second
)

// newRedis makes a client of server.redis_url, of one of these forms:
//
//	redis://[user[:password]@]host[:port][/db]                         one server
//	rediss://…                                                         over TLS
//	redis://…host[:port],host[:port]…                                  a cluster, of which these are some nodes
//	redis+sentinel://…host[:port],host[:port]…[/db]?master=name        whom these sentinels call the master
//
// It connects when it is first used. Contexts end its calls, and it tries nothing twice: whoever calls knows what may be. The
// error holds nothing of the URL, which may carry a password.
func newRedis(address string, logger *slog.Logger) (redis.UniversalClient, error) {
	o, err := redisOptions(address)
	if err != nil {
		return nil, fmt.Errorf("server.redis_url: %w", err)
	}
	redis.SetLogger(redisLog{logger})
	return redis.NewUniversalClient(o), nil
}

// redisLog takes what the driver has to say about its connections: which happened, and never its arguments, for they hold
// addresses.
type redisLog struct{ logger *slog.Logger }

func (l redisLog) Printf(ctx context.Context, format string, _ ...any) {
	l.logger.DebugContext(ctx, "the redis driver reports", "what", format)
}

func redisOptions(address string) (*redis.UniversalOptions, error) {
	scheme, rest, _ := strings.Cut(address, "://")
	rest, query, _ := strings.Cut(rest, "?")
	authority, db, _ := strings.Cut(rest, "/")
	o := &redis.UniversalOptions{
		ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		DialTimeout: redisDialsFor, ReadTimeout: redisWaitsFor, WriteTimeout: redisWaitsFor, PoolTimeout: redisWaitsFor,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	port := "6379"
	switch scheme {
	case "redis":
	case "rediss":
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	case "redis+sentinel":
		port = "26379"
	default:
		return nil, errors.New("want a URL that begins with redis://, rediss:// or redis+sentinel://")
	}
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		hosts = authority[at+1:]
		var err error
		if o.Username, o.Password, err = redisUser(authority[:at]); err != nil {
			return nil, err
		}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := redisAddr(host, port)
		if err != nil {
			return nil, err
		}
		o.Addrs = append(o.Addrs, addr)
	}
	return o, redisPlace(o, scheme == "redis+sentinel", db, query)
}

// redisPlace reads the database and the master's name.
func redisPlace(o *redis.UniversalOptions, sentinel bool, db, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what follows the ? is no query")
	}
	for name := range values {
		if name != "master" || !sentinel {
			return errors.New("want no parameter but master=<name>, and that only with redis+sentinel://")
		}
	}
	if o.MasterName = values.Get("master"); sentinel && o.MasterName == "" {
		return errors.New("redis+sentinel:// needs ?master=<name>, as the sentinels call the master")
	}
	if db == "" {
		return nil
	}
	if o.DB, err = strconv.Atoi(db); err != nil || o.DB < 0 {
		return errors.New("what follows the / must be the number of a database")
	}
	if o.DB > 0 && len(o.Addrs) > 1 && !sentinel {
		return errors.New("several hosts are a cluster, which has database 0 alone")
	}
	return nil
}

// redisUser reads what stands before the @. Characters that mean something in a URL are written as %XX.
func redisUser(text string) (user, password string, err error) {
	name, word, _ := strings.Cut(text, ":")
	user, err = url.PathUnescape(name)
	if err == nil {
		password, err = url.PathUnescape(word)
	}
	if err != nil {
		return "", "", errors.New("the user or the password holds a % that is not followed by two hexadecimal digits; write % as %25")
	}
	return user, password, nil
}

// redisAddr completes a host with the port that is usual.
func redisAddr(text, port string) (string, error) {
	host, given, err := net.SplitHostPort(text)
	if err != nil { // no port
		host, given = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), port
	}
	if host == "" || strings.ContainsAny(host, "[]@/?# ") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return "", errors.New("a host is missing or is none; several are set apart by commas, and a password's special characters written as %XX")
	}
	if n, err := strconv.ParseUint(given, 10, 16); err != nil || n == 0 {
		return "", errors.New("a host's port must be a number from 1 to 65535")
	}
	return net.JoinHostPort(host, given), nil
}
