package configs

import (
	"slices"

	"hermes-hub/router"
)

// Switches are what operators have set beside the file, over the admin API: it wins over the file until the file's own word
// changes. An account of neither is as the file has it.
type Switches struct {
	Enabled map[string]bool `json:"enabled,omitempty"` // by profile id
	Main    *Main           `json:"main,omitempty"`    // nil = as in the file
}

// Main is which account is the main one instead of those of the file.
type Main struct {
	Profile string   `json:"profile"`
	Over    []string `json:"over"` // the file's, when it was said
}

// Switched is the configuration with the switches on it, and the switches that are still of use: one that says what the file
// says, or that is about nothing in the file, is dropped, and the file counts again. Without any of use it is the configuration itself. The file's own warnings stay.
func (c *Config) Switched(s Switches) (*Config, Switches, error) {
	next, left := *c, Switches{}
	next.Profiles = slices.Clone(c.Profiles)
	for i := range next.Profiles {
		p := &next.Profiles[i]
		if on, ok := s.Enabled[p.ID]; ok && on != p.Enabled {
			p.Enabled = on
			if left.Enabled == nil {
				left.Enabled = make(map[string]bool)
			}
			left.Enabled[p.ID] = on
		}
	}
	if of := c.main(); s.Main != nil && slices.Equal(s.Main.Over, of) && !slices.Equal(of, []string{s.Main.Profile}) && next.setMain(s.Main.Profile) {
		left.Main = s.Main
	}
	if left.Enabled == nil && left.Main == nil {
		return c, left, nil
	}
	table, err := router.NewTable(next.Profiles, next.Roles, next.Router)
	if err != nil {
		return nil, Switches{}, err
	}
	next.table = table
	return &next, left, nil
}

// MainOf is the main account of one's choice, over those of the file.
func (c *Config) MainOf(profile string) *Main { return &Main{Profile: profile, Over: c.main()} }

// main lists the main accounts, in file order.
func (c *Config) main() []string {
	var all []string
	for i := range c.Profiles {
		if c.Profiles[i].Main {
			all = append(all, c.Profiles[i].ID)
		}
	}
	return all
}

// setMain makes an account the only main one, if there is such an account.
func (c *Config) setMain(profile string) bool {
	if !slices.ContainsFunc(c.Profiles, func(p router.Profile) bool { return p.ID == profile }) {
		return false
	}
	for i := range c.Profiles {
		c.Profiles[i].Main = c.Profiles[i].ID == profile
	}
	return true
}
