package router

import (
	"slices"
	"strings"
	"time"

	"hermes-hub/quota"
)

// named is a model with its family, so that neither is worked out again per request. The zero named is no model.
type named struct{ model, family string }

func name(model string) named {
	if model == "" {
		return named{}
	}
	return named{model, quota.Family(model)}
}

// Concrete reports whether a requested model is one at all, rather than a way to leave the choice to the account.
func Concrete(model string) bool { return model != "" && model != "auto" && model != "default" }

// offer is what an account can be asked for, worked out from its profile once.
type offer struct {
	own    []named          // preferred_models, then fallback_models
	mapped map[string]named // model_map
	listed []string         // every model the profile names
	known  map[string]Model // what is known of the models it is asked for, as far as the configuration names them
	serves []string         // prefixes of models the provider is known to serve
}

func newOffer(p *Profile) offer {
	o := offer{mapped: make(map[string]named, len(p.ModelMap)), known: make(map[string]Model), serves: p.Provider.Serves}
	for _, models := range [][]string{p.PreferredModels, p.FallbackModels} {
		for _, m := range models {
			if m != "" && !slices.Contains(o.listed, m) {
				o.own = append(o.own, name(m))
				o.listed = append(o.listed, m)
			}
		}
	}
	for requested, m := range p.ModelMap {
		o.mapped[requested] = name(m)
		o.listed = append(o.listed, m)
	}
	for _, m := range o.listed {
		o.known[m] = ModelOf(p.Provider.ID, m)
	}
	return o
}

// serve answers a request for one model by name: the account's own name for it, or the model itself where the profile
// lists it, the provider is known to serve it, or the profile names no model at all. What such an account serves is not
// known, so it is asked rather than passed over.
func (o *offer) serve(m named) (named, bool) {
	if to, ok := o.mapped[m.model]; ok {
		return to, true
	}
	if slices.Contains(o.listed, m.model) {
		return m, true
	}
	if !Concrete(m.model) {
		return named{}, false
	}
	known := slices.ContainsFunc(o.serves, func(prefix string) bool { return strings.HasPrefix(m.model, prefix) })
	if known || len(o.listed) == 0 {
		return m, true
	}
	return named{}, false
}

// first is the model that the account prefers, "" = none is configured.
func (o *offer) first() string {
	if len(o.own) == 0 {
		return ""
	}
	return o.own[0].model
}

// ask decides which model the account is asked for. Without ok it serves none that the request would accept.
func (o *offer) ask(q *Query, wanted, roleDefault named, st *quota.Standing, now time.Time) (m named, ok bool) {
	if m, ok = o.serve(wanted); ok {
		return m, true
	}
	if !q.AnyNode && Concrete(q.Model) {
		return named{}, false
	}
	if len(o.own) == 0 {
		return o.serve(roleDefault)
	}
	return o.firstReady(st, now), true
}

// firstReady is the account's own first usable model; when none is, the first of all.
func (o *offer) firstReady(st *quota.Standing, now time.Time) named {
	for _, m := range o.own {
		if st.Spotless() || st.Check(m.model, m.family, now).State == quota.Ready {
			return m
		}
	}
	return o.own[0]
}
