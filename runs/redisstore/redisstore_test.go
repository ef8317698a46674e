package redisstore_test

import (
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
	"hermes-hub/runs/storetest"
)

// X05: the same suite against the double, without any Redis, and against the real thing.
func TestStoreDouble(t *testing.T) {
	c := double(t)
	storetest.Run(t, func(testing.TB) runs.Store { return unhurried(c) })
}

func TestStore(t *testing.T) {
	c := patient(t, serve(t).addr)
	storetest.Run(t, func(testing.TB) runs.Store { return unhurried(c) })
}

func TestStoreReopened(t *testing.T) {
	server := serve(t)
	storetest.Durable(t, func(t testing.TB) (runs.Store, func() runs.Store) {
		prefix := nextPrefix()
		open := func() runs.Store { return redisstore.New(server.client(t), redisstore.Options{Prefix: prefix}) }
		return open(), open
	})
}

func BenchmarkStore(b *testing.B) {
	c := serve(b).client(b)
	storetest.Bench(b, func(testing.TB) runs.Store { return store(c) })
}
