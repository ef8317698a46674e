package memstore_test

import (
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/storetest"
)

func open(testing.TB) runs.Store { return new(memstore.Store) }

func TestStore(t *testing.T) { storetest.Run(t, open) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }
