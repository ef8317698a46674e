// Package hub is the one picture of the hub that operators and user interfaces see: the HubSnapshot of the UI state
// contract, numbered, live, and true.
//
//	router, identities, looks, calls ── Collect ──► Sources ── Build(now) ──► HubSnapshot
//	                                                                              │
//	Scheduler ── Begin, looks, Complete ──► Store ◄── Sync, when something may have changed
//	                                          │ Sequence: generation, seq, number of the event
//	                                          ├── one atomic pointer ──► Current, Await: readers
//	                                          └── Diff(before, after) ──► Bus ──► Subscription: events in order, or RESYNC
//
// Build is pure: a picture is derived as a whole from one moment's sources, so that its parts cannot contradict each other.
// What was not measured is null; every label has its twin in English. Diff is pure too: it says by which events one picture
// becomes the next.
//
// A Store publishes pictures one at a time, under one lock in which it also collects: no picture is ever built from older
// sources than the one before it. That is why a delta cannot be undone by a refresh that began earlier, and an account that
// was removed does not come back. What a refresh finds out it leaves where the next picture is collected from. It takes its
// ticket at its start; one that ends after a later one of the same key, or of everything, is late and dropped.
//
// Who owns what: Store.mu the numbers and whoever publishes; Bus.mu the last events; Scheduler.mu the refreshes under way. Locks
// are taken in this order: Scheduler.mu, Store.mu, Bus.mu. Store.Run and Scheduler.Run are the two goroutines, the latter
// with its refreshes, for which it waits.
package hub
