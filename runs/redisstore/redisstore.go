// Package redisstore keeps runs in a Redis that several hubs share: a run that one of them executes is observed, taken over
// and ended through any other.
//
// Of each run there are two keys of one slot: its meta, a hash, and its rows, a stream whose ids are the rows' seqs. One
// script, which does what runs.Decide does, is all that writes them; so a batch is stored whole or not at all, whoever else
// is writing and whenever the server stops. Lists of runs are sorted sets elsewhere, and only say where to look: what they
// name is believed when the run's own meta says the same. Every key expires when no hub is left that would remove it.
//
// What Redis has acknowledged it may lose: all of it without `appendonly yes`, the last second of it when the machine fails,
// and what a replica had not yet got when it is promoted. A writer sees it at its next commit, by the numbers of its rows, and
// sends again what it still has (runs.Options.Resend). A run of which nothing at all is left is lost in this sense too, for
// one that was deleted leaves a marker.
//
// It needs Redis 7 or newer, or Valkey, with `maxmemory-policy noeviction`. Nothing of a row, a key or an address is ever
// part of an error.
package redisstore

import (
	"cmp"
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options of a Store. Zero values are the defaults.
type Options struct {
	Prefix   string // of every key and channel; "hh:"
	Instance string // names this hub among those that ring: its own bells it need not hear; "": it hears all

	// How long keys last that nobody touches. Each append of a run begins the time anew.
	Live      time.Duration // a run that has not ended; 6 h
	Retention time.Duration // the rows of one that has; 24 h
	Tombstone time.Duration // what tells that a run has expired, or was deleted; a week

	Timeout time.Duration // of one call to Redis, should its context have none that is shorter; 1 s
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, "hh:")
	o.Live = cmp.Or(o.Live, 6*time.Hour)
	o.Retention = cmp.Or(o.Retention, 24*time.Hour)
	o.Tombstone = cmp.Or(o.Tombstone, 7*24*time.Hour)
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	return o
}

// Store is a runs.Store. It holds no state but its client, which the caller closes.
type Store struct {
	client redis.UniversalClient
	o      Options

	append, read, expire, delete script
}

var (
	//go:embed head.lua
	headLua string
	//go:embed append.lua
	appendLua string
	//go:embed read.lua
	readLua string
	//go:embed expire.lua
	expireLua string
	//go:embed delete.lua
	deleteLua string
)

// New returns a Store over a client, which should have ContextTimeoutEnabled, or no context ends a call, and no retries of
// its own: the journal retries.
func New(client redis.UniversalClient, o Options) *Store {
	return &Store{
		client: client, o: o.withDefaults(),
		append: compose("#!lua", appendLua), read: compose("#!lua flags=no-writes", readLua),
		expire: compose("#!lua", expireLua), delete: compose("#!lua", deleteLua),
	}
}

// keys are a run's own. The braces make them of one slot.
func (s *Store) keys(runID string) []string {
	return []string{s.o.Prefix + "{" + runID + "}:m", s.o.Prefix + "{" + runID + "}:e"}
}

// bounded is ctx with the store's own patience.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.o.Timeout)
}
