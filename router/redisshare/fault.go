package redisshare

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/redis/go-redis/v9"
)

// ErrUnavailable is a Redis that does not do its work now: it is away, slow, loading, read-only or full.
var ErrUnavailable = errors.New("redis is unavailable")

// errForeign is a key of ours that another program has written.
var errForeign = errors.New("a key holds what no hub wrote")

// fault is whose trouble an error is.
type fault int

const (
	none  fault = iota
	minor       // this hub's own, or one key's
	slow        // no answer in time
	grave       // no Redis, or one that refuses
)

func faultOf(err error) fault {
	switch {
	case err == nil:
		return none
	case errors.Is(err, context.DeadlineExceeded):
		return slow
	case errors.Is(err, context.Canceled), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, errForeign), errors.Is(err, redis.ErrClosed):
		return minor
	default:
		return grave
	}
}

var errorCode = regexp.MustCompile(`^[A-Z]{2,24}\b`)

// plain tells of an error only of which kind it is: its own text may hold addresses and what users wrote.
func plain(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Canceled)
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: %w", ErrUnavailable, redis.ErrPoolTimeout)
	case errors.Is(err, redis.ErrClosed):
		return fmt.Errorf("%w: %w", ErrUnavailable, redis.ErrClosed)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: %w", ErrUnavailable, context.DeadlineExceeded)
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return errForeign
	}
	if _, ok := errors.AsType[redis.Error](err); !ok {
		return fmt.Errorf("%w: no connection", ErrUnavailable)
	}
	if code := errorCode.FindString(err.Error()); code != "" {
		return fmt.Errorf("%w: it says %s", ErrUnavailable, code)
	}
	return fmt.Errorf("%w: it gave an answer that is none", ErrUnavailable)
}
