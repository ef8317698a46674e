package redisstore_test

import (
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/storetest"
)

// X05: the same suite against the double, without any Redis, and against the real thing.
func TestStoreDouble(t *testing.T) {
	c := double(t)
	storetest.Run(t, func(testing.TB) runs.Store { return store(c) })
}

func TestStore(t *testing.T) {
	c := serve(t).client(t)
	storetest.Run(t, func(testing.TB) runs.Store { return store(c) })
}

func BenchmarkStore(b *testing.B) {
	c := serve(b).client(b)
	storetest.Bench(b, func(testing.TB) runs.Store { return store(c) })
}
