package router

import (
	"errors"
	"fmt"
)

// index fills the look-ups and returns everything in the configuration that contradicts itself, joined.
func (t *Table) index() error {
	errs := []error{t.indexProfiles(), t.indexRoles(), t.checkSettings()}
	for _, r := range t.Roles {
		errs = append(errs, t.checkChain(r))
	}
	return errors.Join(errs...)
}

func (t *Table) indexProfiles() error {
	var errs []error
	if len(t.Profiles) == 0 {
		errs = append(errs, errors.New("profiles: none is configured: at least one account is needed"))
	}
	for i, p := range t.Profiles {
		if p.ID == "" {
			errs = append(errs, fmt.Errorf("profiles: number %d has no id", i+1))
			continue
		}
		if _, taken := t.profiles[p.ID]; taken {
			errs = append(errs, fmt.Errorf("profile %q: the id is used twice", p.ID))
			continue
		}
		t.profiles[p.ID] = i
		if p.MaxConcurrency < 0 {
			errs = append(errs, fmt.Errorf("profile %q: max_concurrency is %d: must not be negative", p.ID, p.MaxConcurrency))
		}
		if p.ContextLength < 0 {
			errs = append(errs, fmt.Errorf("profile %q: context_length is %d: must not be negative", p.ID, p.ContextLength))
		}
	}
	return errors.Join(errs...)
}

// indexRoles enters all ids before the first alias: an alias never takes a name away from a role.
func (t *Table) indexRoles() error {
	var errs []error
	if len(t.Roles) == 0 {
		errs = append(errs, errors.New("roles: none is configured: at least one role is needed"))
	}
	for i, r := range t.Roles {
		if r.ID == "" {
			errs = append(errs, fmt.Errorf("roles: number %d has no id", i+1))
			continue
		}
		if _, taken := t.names[r.ID]; taken {
			errs = append(errs, fmt.Errorf("role %q: the id is used twice", r.ID))
			continue
		}
		t.names[r.ID] = r
		if r.MaxAttempts < 0 {
			errs = append(errs, fmt.Errorf("role %q: max_failover_attempts is %d: must not be negative", r.ID, r.MaxAttempts))
		}
	}
	for _, r := range t.Roles {
		for _, alias := range r.Aliases {
			switch owner, taken := t.names[alias]; {
			case alias == "":
				errs = append(errs, fmt.Errorf("role %q: an alias is empty", r.ID))
			case taken && owner.ID == alias:
				errs = append(errs, fmt.Errorf("role %q: alias %q is the id of a role", r.ID, alias))
			case taken:
				errs = append(errs, fmt.Errorf("role %q: alias %q is already an alias of role %q", r.ID, alias, owner.ID))
			default:
				t.names[alias] = r
			}
		}
	}
	return errors.Join(errs...)
}

func (t *Table) checkSettings() error {
	var errs []error
	if id := t.Settings.DefaultRole; id != "" {
		if _, ok := t.names[id]; !ok {
			errs = append(errs, fmt.Errorf("router: default_role names unknown role %q", id))
		}
	}
	if n := t.Settings.MaxAttempts; n < 0 {
		errs = append(errs, fmt.Errorf("router: max_failover_attempts is %d: must not be negative", n))
	}
	return errors.Join(errs...)
}

func (t *Table) checkChain(r *Role) error {
	var errs []error
	for _, item := range r.Chain {
		if _, ok := t.profiles[item.Profile]; !ok {
			errs = append(errs, fmt.Errorf("role %q: preferred_chain names unknown profile %q", r.ID, item.Profile))
		}
	}
	return errors.Join(errs...)
}
