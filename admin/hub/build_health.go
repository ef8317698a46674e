package hub

import (
	"net/http"
	"slices"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// keyless are providers whose accounts need no credential: machines of the user's own.
var keyless = []string{"ollama", "lm-studio", "vllm", "llama.cpp", "local", "openai-compatible"}

// needsCredential reports whether an account without a credential is an empty slot.
func needsCredential(p *router.Profile) bool {
	for _, carrier := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		if len(p.Headers[http.CanonicalHeaderKey(carrier)]) > 0 {
			return false
		}
	}
	return !slices.Contains(keyless, p.Provider.ID)
}

// auth is how an account stands with its provider: what its credential says of itself, unless a provider has refused it.
func (b *builder) auth(i int) AuthState {
	p := b.table.Profiles[i]
	state := b.src.Identities[p.ID].State
	switch {
	case state == "" && !p.Credential.Empty(), (state == "" || state == NotConfigured) && !needsCredential(p):
		state = Authenticated
	case state == "":
		state = NotConfigured
	}
	if state == Authenticated && b.refusedCredential(i) {
		return AuthRequired
	}
	return state
}

func (b *builder) refusedCredential(i int) bool {
	return slices.ContainsFunc(b.src.Router.Standings[i].Blocks(b.now), func(bl quota.Block) bool {
		return bl.Key == "" && bl.State == quota.StateAuthRequired
	})
}

// condition is a state and what it rests on, which is zero where it rests on nothing that was learnt.
type condition struct {
	state  HealthState
	class  quota.Class
	until  time.Time // zero = no end is known
	source quota.Source
	reason string
}

// conditionOf is the condition that a block brings about.
func conditionOf(b *quota.Block) condition {
	return condition{healthOf(b.State), b.Class, b.Until, b.Source, b.Reason}
}

// remaining is how many seconds a condition lasts, 0 where that is not known.
func (c condition) remaining(now time.Time) int { return secondsUntil(c.until, now) }

// health is the condition of an account: the first of the contract's list that applies. An account all of whose models are
// out is out, until the first of them is back.
func (b *builder) health(i int, auth AuthState, models []modelHealth) condition {
	p := b.table.Profiles[i]
	switch {
	case !p.Enabled:
		return condition{state: HealthDisabled}
	case p.ColdSpare:
		return condition{state: HealthColdSpare}
	case auth == NotConfigured:
		return condition{state: HealthNotConfigured}
	case auth != Authenticated:
		return condition{state: HealthUnhealthy}
	}
	if c := b.accountTrouble(i); c.state != HealthHealthy {
		return c
	}
	c := soonest(models, "")
	if c.state == HealthAuthRequired {
		c.state = HealthUnhealthy
	}
	return c
}

// troubles are the states of blocks in the contract's order; what is not among them comes after.
var troubles = []quota.State{quota.StateQuota, quota.StateRateLimited, quota.StateCooldown}

// accountTrouble is what stands against the whole account, whatever the model: of what applies the first of the contract's
// order, and of equal ones the one that lasts longest.
func (b *builder) accountTrouble(i int) condition {
	var worst quota.Block
	weigh := func(block quota.Block) {
		rank, best := rankOf(block.State), rankOf(worst.State)
		if worst.State == quota.Ready || rank < best || rank == best && longer(block.Until, worst.Until) {
			worst = block
		}
	}
	for _, block := range b.src.Router.Standings[i].Blocks(b.now) {
		if block.Key == "" && block.State != quota.StateAuthRequired {
			weigh(block)
		}
	}
	if rest, ok := b.rests[b.table.Profiles[i].ID]; ok {
		weigh(rest)
	}
	return conditionOf(&worst)
}

func rankOf(s quota.State) int {
	if i := slices.Index(troubles, s); i >= 0 {
		return i
	}
	return len(troubles)
}

// longer compares ends; a zero one is no end.
func longer(x, y time.Time) bool { return !y.IsZero() && (x.IsZero() || x.After(y)) }

// healthOf is the state of the contract for a state of a block.
func healthOf(s quota.State) HealthState {
	switch s {
	case quota.Ready:
		return HealthHealthy
	case quota.StateQuota:
		return HealthQuota
	case quota.StateRateLimited:
		return HealthRateLimited
	case quota.StateCooldown:
		return HealthCooldown
	case quota.StateAuthRequired:
		return HealthAuthRequired
	default:
		return HealthUnhealthy
	}
}

// modelHealth is the condition of one model of an account.
type modelHealth struct {
	family string
	condition
}

// models are the conditions of the models that a profile names, in its order of preference.
func (b *builder) models(i int) []modelHealth {
	p := b.table.Profiles[i]
	all := make([]modelHealth, 0, len(p.PreferredModels)+len(p.FallbackModels))
	for _, list := range [][]string{p.PreferredModels, p.FallbackModels} {
		for _, m := range list {
			family := quota.Family(m)
			block := b.src.Router.Standings[i].Check(m, family, b.now)
			if rest, ok := b.rests[p.ID]; ok && block.State == quota.Ready {
				block = rest
			}
			all = append(all, modelHealth{family, conditionOf(&block)})
		}
	}
	return all
}

// soonest is the condition of the model of a family, "" = any, that is usable first; healthy where one is now, or none is
// named.
func soonest(models []modelHealth, family string) condition {
	best := condition{state: HealthHealthy}
	for _, m := range models {
		switch {
		case family != "" && m.family != family:
		case m.state == HealthHealthy:
			return m.condition
		case best.state == HealthHealthy || longer(best.until, m.until):
			best = m.condition
		}
	}
	return best
}

// families are the conditions by family, each that of its model which is usable first, unless the account is none to call.
func (b *builder) families(i int, auth AuthState, models []modelHealth) map[string]*ModelFamilyHealth {
	all := make(map[string]*ModelFamilyHealth)
	for _, m := range models {
		if _, done := all[m.family]; done {
			continue
		}
		c := soonest(models, m.family)
		switch {
		case !b.table.Profiles[i].Enabled:
			c = condition{state: HealthDisabled}
		case auth == NotConfigured:
			c = condition{state: HealthNotConfigured}
		case auth != Authenticated:
			c = condition{state: HealthAuthRequired}
		}
		view := &ModelFamilyHealth{Family: m.family, State: c.state, RemainingSec: c.remaining(b.now), ResetAt: instant(c.until), Reason: text(c.reason)}
		view.LabelRU, view.LabelEN = familyLabel(c.state, view.RemainingSec, c.source)
		all[m.family] = view
	}
	return all
}
