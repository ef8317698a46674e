package configs

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"go.yaml.in/yaml/v3"
)

// String says which file it is and how much is in it; the values hold secrets.
func (c Config) String() string {
	return fmt.Sprintf("configuration %s: %d roles, %d profiles", c.Path, len(c.Roles), len(c.Profiles))
}

// Format keeps every other verb from printing the fields: %d and %#v do not ask String.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue keeps slog from printing the fields.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("path", c.Path),
		slog.Int("roles", len(c.Roles)),
		slog.Int("profiles", len(c.Profiles)),
	)
}

// MarshalJSON is Effective as JSON.
func (c Config) MarshalJSON() ([]byte, error) {
	var tree any
	if err := yaml.Unmarshal(c.Effective(), &tree); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return json.Marshal(tree)
}
