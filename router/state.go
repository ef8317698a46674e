package router

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hermes-hub/quota"
)

// StateStore keeps one blob: what the router knows, for the next run. Save replaces it as a whole and returns when it
// survives a crash; a Save that fails leaves the old one. Load returns nil when there is none.
type StateStore interface {
	LoadState(ctx context.Context) ([]byte, error)
	SaveState(ctx context.Context, state []byte) error
}

const stateVersion = 1

// state is what survives a restart, as it is written.
type state struct {
	Version  int                     `json:"version"`
	SavedAt  time.Time               `json:"saved_at"`
	Profiles map[string]profileState `json:"profiles"` // by id
	Affinity []bondState             `json:"affinity"` // the one renewed last at the end
}

// profileState is what is known of an account, and which account it was.
type profileState struct {
	identity
	Standing quota.Standing `json:"standing"`
}

type bondState struct {
	Session string    `json:"session"` // a hash, in hex
	Role    string    `json:"role"`
	Profile string    `json:"profile"`
	At      time.Time `json:"at"`
}

// encodeState writes every account of which anything is known, and the bonds.
func encodeState(s *Snapshot, bonds []bond, now time.Time) ([]byte, error) {
	st := state{Version: stateVersion, SavedAt: now.UTC(), Profiles: make(map[string]profileState)}
	for i, p := range s.Table.Profiles {
		if standing := s.Standings[i]; !standing.Spotless() || len(standing.Buckets()) > 0 {
			st.Profiles[p.ID] = profileState{identityOf(p), standing}
		}
	}
	for _, b := range bonds {
		st.Affinity = append(st.Affinity, bondState{hex.EncodeToString(b.session[:]), b.role, b.profile, b.at.UTC()})
	}
	data, err := json.Marshal(st)
	if err != nil {
		return nil, fmt.Errorf("encode router state: %w", err)
	}
	return data, nil
}

// decodeState reads what encodeState wrote, of this version.
func decodeState(data []byte) (state, error) {
	var st state
	if err := json.Unmarshal(data, &st); err != nil {
		return state{}, fmt.Errorf("decode router state: %w", err)
	}
	if st.Version != stateVersion {
		return state{}, fmt.Errorf("decode router state: version is %d, this program reads %d", st.Version, stateVersion)
	}
	return st, nil
}

// restored is the next snapshot, with what st knows of the accounts that are still the same ones and what of it still
// holds at now.
func (s *Snapshot) restored(st state, now time.Time) *Snapshot {
	next := *s
	next.Version++
	next.Standings = slices.Clone(s.Standings)
	for i, p := range s.Table.Profiles {
		if old, ok := st.Profiles[p.ID]; ok && old.identity == identityOf(p) {
			next.Standings[i] = old.Standing.Restore(now)
		}
	}
	next.pair()
	return &next
}

// bonds are st's bonds that are younger than ttl. One from the future was made before the clock was set back: it counts as
// made now, or it would not end for as long.
func (st state) bonds(ttl time.Duration, now time.Time) []bond {
	var bonds []bond
	for _, w := range st.Affinity {
		b := bond{bondKey: bondKey{role: w.Role}, profile: w.Profile, at: w.At}
		session, err := hex.DecodeString(w.Session)
		if err != nil || len(session) != len(b.session) || b.expired(ttl, now) {
			continue
		}
		copy(b.session[:], session)
		if b.at.After(now) {
			b.at = now
		}
		bonds = append(bonds, b)
	}
	return bonds
}
