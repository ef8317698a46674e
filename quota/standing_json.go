package quota

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// standingVersion is the version of the saved form. A field may be added without a new one.
const standingVersion = 1

// savedStanding is the saved form of a Standing.
type savedStanding struct {
	Version int           `json:"version"`
	Blocks  []savedBlock  `json:"blocks,omitempty"`
	Buckets []savedBucket `json:"buckets,omitempty"`
	Relook  time.Duration `json:"relook_ns,omitempty"`
}

type savedBlock struct {
	State    State     `json:"state"`
	Class    Class     `json:"class"`
	Scope    Scope     `json:"scope"`
	Key      string    `json:"key,omitempty"`
	Bucket   string    `json:"bucket,omitempty"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until,omitzero"`
	Stated   bool      `json:"stated,omitempty"`
	Failures int       `json:"failures,omitempty"`
	Source   Source    `json:"source,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

type savedBucket struct {
	ID               string    `json:"id"`
	UsedPercent      *float64  `json:"used_percent,omitempty"`
	RemainingPercent *float64  `json:"remaining_percent,omitempty"`
	Limit            *float64  `json:"limit,omitempty"`
	Remaining        *float64  `json:"remaining,omitempty"`
	ResetAt          time.Time `json:"reset_at,omitzero"`
	SeenAt           time.Time `json:"seen_at,omitzero"`
	Source           Source    `json:"source,omitempty"`
}

// MarshalJSON saves the Standing as it is, expired blocks included: Restore knows the time.
func (s Standing) MarshalJSON() ([]byte, error) {
	saved := savedStanding{Version: standingVersion, Relook: s.relook}
	for _, b := range s.blocks {
		saved.Blocks = append(saved.Blocks, savedBlock(b))
	}
	for _, b := range s.buckets {
		saved.Buckets = append(saved.Buckets, savedBucket{
			ID: b.ID, UsedPercent: b.UsedPercent.save(), RemainingPercent: b.RemainingPercent.save(), Limit: b.Limit.save(),
			Remaining: b.Remaining.save(), ResetAt: b.ResetAt, SeenAt: b.SeenAt, Source: b.Source,
		})
	}
	return json.Marshal(saved)
}

// UnmarshalJSON loads a saved Standing. Unknown fields are ignored, and so are blocks in a state that this version does
// not know; a newer version of the form is an error.
func (s *Standing) UnmarshalJSON(data []byte) error {
	var saved savedStanding
	if err := json.Unmarshal(data, &saved); err != nil {
		return fmt.Errorf("load standing: %w", err)
	}
	if saved.Version > standingVersion {
		return fmt.Errorf("load standing: version %d is newer than %d", saved.Version, standingVersion)
	}
	var blocks []Block
	for _, b := range saved.Blocks {
		if slices.Contains(knownStates, b.State) {
			blocks = append(blocks, Block(b))
		}
	}
	var buckets []Bucket
	for _, b := range saved.Buckets {
		buckets = append(buckets, Bucket{
			ID: b.ID, UsedPercent: loadNumber(b.UsedPercent), RemainingPercent: loadNumber(b.RemainingPercent),
			Limit: loadNumber(b.Limit), Remaining: loadNumber(b.Remaining), ResetAt: b.ResetAt, SeenAt: b.SeenAt, Source: b.Source,
		})
	}
	slices.SortFunc(buckets, compareID)
	*s = Standing{relook: saved.Relook}.with(bounded(blocks), buckets[:min(len(buckets), keptBuckets)])
	return nil
}

// knownStates are the states that a block may be in.
var knownStates = []State{
	StateAuthRequired, StateBilling, StateForbidden, StateQuota, StateRateLimited, StateCooldown, StateNoModel,
}

// Restore is a loaded Standing as it counts now: what has expired, but for a count of failures, or could not have been
// written before now, is left out. It forgets buckets whose window was reset meanwhile: their numbers no longer hold.
func (s Standing) Restore(now time.Time) Standing {
	var blocks []Block
	for _, b := range s.blocks {
		if b.expired(now) && b.Failures == 0 || b.Until.Sub(now) > maxAhead {
			continue
		}
		if b.Since.After(now) {
			b.Since = now // the clock was set back: no success could ever be newer
		}
		blocks = append(blocks, b)
	}
	var buckets []Bucket
	for _, b := range s.buckets {
		if b.SeenAt.After(now) {
			b.SeenAt = now
		}
		if b.ResetAt.IsZero() || b.ResetAt.After(now) {
			buckets = append(buckets, b)
		}
	}
	return s.with(blocks, buckets)
}

// save is nil for an unknown number, and for one that JSON cannot write.
func (n Number) save() *float64 {
	if !n.Known || math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
		return nil
	}
	return &n.Value
}

func loadNumber(v *float64) Number {
	if v == nil {
		return Number{}
	}
	return Known(*v)
}
