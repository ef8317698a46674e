package quota

import "time"

// State is the condition of an account, or of one model or family of it.
type State string

// The states a Standing can report. The zero State is ready.
const (
	Ready             State = ""
	StateAuthRequired State = "auth_required"   // until the credential changes
	StateBilling      State = "billing"         // re-tried after Policy.CooldownMax: nobody tells us of a top-up
	StateForbidden    State = "forbidden"       // likewise
	StateQuota        State = "quota_exhausted" // until the stated reset, else Policy.QuotaCooldown; measured or refused
	StateRateLimited  State = "rate_limited"    // until the stated wait, else Policy.RateLimitCooldown
	StateCooldown     State = "cooldown"        // transient failures, doubled from Policy.CooldownBase to CooldownMax
	StateNoModel      State = "model_not_found" // re-tried after Policy.CooldownMax
)

// Policy holds the waits of the configuration, used only where an answer states none.
type Policy struct {
	CooldownBase      time.Duration // router.cooldown_base_seconds: the first transient failure
	CooldownMax       time.Duration // router.cooldown_max_seconds: where the doubling ends
	QuotaCooldown     time.Duration // router.quota_cooldown_seconds
	RateLimitCooldown time.Duration // router.rate_limit_cooldown_seconds
}

// Call names the call that a Reading belongs to.
type Call struct {
	Model     string
	Family    string    // Family(Model)
	StartedAt time.Time // when the attempt began: older evidence never clears newer
	At        time.Time // when the answer was read
}

// Block is why an account, model or family is not to be called. The zero Block is ready.
type Block struct {
	State    State
	Class    Class
	Scope    Scope
	Key      string    // "" = the account, "family:<f>", "model:<m>"
	Bucket   string    // the id of the window that is spent; "" = none is known, or it is no window
	Since    time.Time // when it was observed, or last lengthened
	Until    time.Time // compared on read; zero = until something else changes
	Stated   bool      // Until came from the provider, not from Policy
	Failures int       // consecutive transient failures behind it
	Source   Source
	Reason   string
}

// Standing is what is known of one account: the fold of all Readings about it. It is a value; Apply returns a new one and
// leaves the old as it was, so a Standing that was published never changes.
type Standing struct {
	blocks  []Block  // by Key, State and Bucket; those that have run out stay until a call disproves them
	buckets []Bucket // newest value of each, by ID
	pools   []pool   // the buckets that decide about calls; worked out of buckets

	relook time.Duration // Policy.QuotaCooldown: how long a spent window counts of which nobody says when it resets
}

// with is the Standing with other blocks and buckets.
func (s Standing) with(blocks []Block, buckets []Bucket) Standing {
	s.blocks = blocks
	if len(buckets) != len(s.buckets) || len(buckets) > 0 && &buckets[0] != &s.buckets[0] {
		s.buckets, s.pools = buckets, poolsOf(buckets, s.relook)
	}
	return s
}
