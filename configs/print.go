package configs

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"go.yaml.in/yaml/v3"
)

// String says which file it is and how much is in it, whatever the verb: the values hold secrets.
func (c *Config) String() string {
	return fmt.Sprintf("configuration %s: %d roles, %d profiles", c.Path, len(c.Roles), len(c.Profiles))
}

// GoString keeps %#v from printing the fields.
func (c *Config) GoString() string { return c.String() }

// LogValue keeps slog from printing the fields.
func (c *Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("path", c.Path),
		slog.Int("roles", len(c.Roles)),
		slog.Int("profiles", len(c.Profiles)),
	)
}

// MarshalJSON is Effective as JSON.
func (c *Config) MarshalJSON() ([]byte, error) {
	var tree any
	if err := yaml.Unmarshal(c.Effective(), &tree); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return json.Marshal(tree)
}
