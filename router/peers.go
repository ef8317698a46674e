package router

// Peers are the other instances of the hub that lend out slots of the same accounts. Each instance tells the others how
// many slots of a profile it holds, as an absolute count: a message that is lost is healed by the next, and an instance
// that dies takes all its slots with it. Both methods are called on the hot path, from many goroutines, and never block.
type Peers interface {
	// Held is how many slots of the profile the others hold together, as of the last sync.
	Held(profile string) int
	// Changed tells that this instance now holds n slots of the profile. Calls about one profile come in the order of
	// the changes, one at a time.
	Changed(profile string, n int)
}

// Solo is Peers of an instance that has none.
type Solo struct{}

// Held is zero.
func (Solo) Held(string) int { return 0 }

// Changed tells nobody.
func (Solo) Changed(string, int) {}
