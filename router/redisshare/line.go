package redisshare

import (
	"context"
	"crypto/sha1" // it is how Redis names scripts
	_ "embed"
	"encoding/hex"
	"time"

	"github.com/redis/go-redis/v9"
)

// line is the way to what the hubs share.
type line interface {
	// run runs scripts in one round trip, each with a reply or an error of its own. Its error is the server's trouble.
	run(ctx context.Context, calls []*call) error
	// ping asks whether anybody is there.
	ping(ctx context.Context) error
	// listen calls heard with what is said in the channel, until ctx is done.
	listen(ctx context.Context, heard func(message string))
}

// call is one run of a script.
type call struct {
	script *script
	keys   []string
	args   []any

	reply []any
	err   error
}

// script is one of this package's, as Redis knows it. Its first line lets Redis refuse to begin it on a replica, or without
// memory for it, rather than to let it fail somewhere.
type script struct{ body, sha string }

func newScript(body string) *script {
	sum := sha1.Sum([]byte(body))
	return &script{body, hex.EncodeToString(sum[:])}
}

var (
	//go:embed counts.lua
	countsLua string
	//go:embed news.lua
	newsLua string
	//go:embed bonds.lua
	bondsLua string

	countsScript = newScript(countsLua)
	newsScript   = newScript(newsLua)
	bondsScript  = newScript(bondsLua)
)

// redisLine is a line to a Redis of any kind.
type redisLine struct {
	client  redis.UniversalClient
	channel string
}

func (l *redisLine) run(ctx context.Context, calls []*call) error {
	pipe, cmds := l.client.Pipeline(), make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		cmds[i] = pipe.EvalSha(ctx, c.script.sha, c.keys, c.args...)
	}
	_, _ = pipe.Exec(ctx) // every command has its own error
	again := false
	for i, c := range calls {
		if redis.HasErrorPrefix(cmds[i].Err(), "NOSCRIPT") {
			cmds[i], again = pipe.Eval(ctx, c.script.body, c.keys, c.args...), true
		}
	}
	if again {
		_, _ = pipe.Exec(ctx) // as above
	}
	var trouble error
	for i, c := range calls {
		if c.reply, c.err = cmds[i].Slice(); c.err != nil {
			c.err = plain(c.err)
			if faultOf(c.err) > minor && trouble == nil {
				trouble = c.err
			}
		}
	}
	return trouble
}

func (l *redisLine) ping(ctx context.Context) error { return plain(l.client.Ping(ctx).Err()) }

// healthEvery is how often a connection that nobody rings on shows that it is alive.
const healthEvery = 3 * time.Second

// listen has one connection, which it makes anew for as long as it takes.
func (l *redisLine) listen(ctx context.Context, heard func(string)) {
	sub := l.client.Subscribe(ctx, l.channel)
	defer func() { _ = sub.Close() }() // nothing is left to be lost
	messages := sub.Channel(redis.WithChannelHealthCheckInterval(healthEvery))
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok { // the client was closed
				return
			}
			heard(m.Payload)
		}
	}
}
