package router

import "time"

// Peers are the other instances of the hub that use the same accounts. They are told on the hot path, from many goroutines
// and partly under a lock: nothing here waits but PeerSlots.Permit.
//
// What they tell in turn comes by Recount, Hear and HearBond.
type Peers interface {
	// Slots is what the instances share about a profile's slots. It is asked for once for each profile there ever is.
	Slots(profile string) PeerSlots
	// Learnt tells that a newer Snapshot is out.
	Learnt()
	// Cleared tells that an operator has cleared a profile here, which is meant for all.
	Cleared(profile string)
	// Bound tells of a bond that is new or was renewed. Not of each renewal: of one in a quarter of its time.
	Bound(b Bond)
}

// PeerSlots are the slots of one profile, seen from one instance. Each instance tells the others how many it holds, as an
// absolute count: a message that is lost is healed by the next, and an instance that dies takes all its slots with it.
type PeerSlots interface {
	// Held is how many slots the others hold together, as of the last sync; zero while they are not heard.
	Held() int
	// Left is how many of limit slots this instance may hold: those that the others do not, or its own share while they are
	// not heard.
	Left(limit int) int
	// Changed tells that this instance now holds n slots. Calls come in the order of the changes, one at a time.
	Changed(n int)
	// Permit asks for one slot more of a profile of LeaseStrict, which has limit. It calls granted before it returns true, on
	// any goroutine; from granted on the slot is one of those that Changed tells of. It is called with no lock held, and
	// may take a moment.
	Permit(limit int, granted func()) bool
}

// Bond is the account that answered a session in a role last.
type Bond struct {
	Session string // a hash of the session's id, 32 hex digits
	Role    string
	Profile string
	At      time.Time // of the success that made or renewed it
}

// Solo is Peers of an instance that has none, and their slots.
type Solo struct{}

// Slots are Solo.
func (Solo) Slots(string) PeerSlots { return Solo{} }

// Learnt tells nobody.
func (Solo) Learnt() {}

// Cleared tells nobody.
func (Solo) Cleared(string) {}

// Bound tells nobody.
func (Solo) Bound(Bond) {}

// Held is zero.
func (Solo) Held() int { return 0 }

// Left is the limit.
func (Solo) Left(limit int) int { return limit }

// Changed tells nobody.
func (Solo) Changed(int) {}

// Permit grants: one instance's own count is exact.
func (Solo) Permit(_ int, granted func()) bool {
	granted()
	return true
}
