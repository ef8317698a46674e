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

// encodeState writes what is worth keeping at now: accounts against which something stands or of which something was
// measured, and the bonds.
func encodeState(s *Snapshot, bonds []bond, now time.Time) ([]byte, error) {
	st := state{Version: stateVersion, SavedAt: now.UTC(), Profiles: make(map[string]profileState)}
	for i, p := range s.Table.Profiles {
		if standing := s.Standings[i]; len(standing.Blocks(now)) > 0 || len(standing.Buckets()) > 0 {
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

// restored is the next snapshot, with what st knows of the accounts that are still the same ones.
func (s *Snapshot) restored(st state, now time.Time) *Snapshot {
	next := *s
	next.Version++
	next.Standings = slices.Clone(s.Standings)
	for i, p := range s.Table.Profiles {
		old, ok := st.Profiles[p.ID]
		if !ok || old.identity != identityOf(p) {
			continue
		}
		if len(old.Standing.Blocks(now)) > 0 || len(old.Standing.Buckets()) > 0 {
			next.Standings[i] = old.Standing
		}
	}
	return &next
}

// bonds are st's bonds that are younger than ttl.
func (st state) bonds(ttl time.Duration, now time.Time) []bond {
	var bonds []bond
	for _, w := range st.Affinity {
		b := bond{bondKey: bondKey{role: w.Role}, profile: w.Profile, at: w.At}
		if n, err := hex.Decode(b.session[:], []byte(w.Session)); err != nil || n != len(b.session) || b.expired(ttl, now) {
			continue
		}
		bonds = append(bonds, b)
	}
	return bonds
}
