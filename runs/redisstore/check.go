package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Check looks whether Redis is set up to keep runs, and returns a line for each thing that is not, or that it may not see. Of a
// cluster it asks any one node.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.client.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("check: %w", unavailable(err))
	}
	var warnings []string
	if v := s.version(ctx); v != 0 && v < 7 {
		warnings = append(warnings, fmt.Sprintf("redis_version is %d: the journal's scripts need Redis 7 or newer", v))
	}
	for _, c := range []struct{ name, want, otherwise string }{
		{"maxmemory-policy", "noeviction", "runs may be evicted while they are written"},
		{"appendonly", "yes", "runs are lost when Redis stops"},
	} {
		values, err := s.client.ConfigGet(ctx, c.name).Result()
		switch got, known := values[c.name]; {
		case err != nil || !known:
			warnings = append(warnings, fmt.Sprintf("%s cannot be read; it must be %s, or %s", c.name, c.want, c.otherwise))
		case got != c.want:
			warnings = append(warnings, fmt.Sprintf("%s is %s; it must be %s, or %s", c.name, got, c.want, c.otherwise))
		}
	}
	return warnings, nil
}

// version is the server's, 0 when it does not say.
func (s *Store) version(ctx context.Context) int {
	info, _ := s.client.Info(ctx, "server").Result() // denied: nothing is known
	_, rest, _ := strings.Cut(info, "redis_version:")
	major, _, _ := strings.Cut(rest, ".")
	n, _ := strconv.Atoi(major) // 0 for what is no number
	return n
}
