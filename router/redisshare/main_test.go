package redisshare

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	os.Exit(m.Run())
}

// silent is the driver's log, of which these tests would make much.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
