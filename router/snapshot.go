package router

import "hermes-hub/quota"

// Snapshot is the one shared state of the hot path: immutable, replaced as a whole, loaded once per request.
type Snapshot struct {
	Version   uint64
	Table     *Table
	Standings []quota.Standing // by profile index of Table
}
