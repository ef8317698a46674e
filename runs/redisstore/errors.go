package redisstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/redis/go-redis/v9"
)

// ErrUnavailable is a Redis that does not do its work now: it is away, slow, loading, read-only or full. Calls may be tried
// again as they were.
var ErrUnavailable = errors.New("redis is unavailable")

var errorCode = regexp.MustCompile(`^[A-Z]{2,24}\b`)

// unavailable tells of an error only of which kind it is: its own text may hold addresses and what users wrote.
func unavailable(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrUnavailable, context.DeadlineExceeded)
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: all connections are in use", ErrUnavailable)
	case errors.Is(err, redis.ErrClosed):
		return fmt.Errorf("%w: %w", ErrUnavailable, redis.ErrClosed)
	case timedOut(err):
		return fmt.Errorf("%w: it did not answer in time", ErrUnavailable)
	}
	if _, ok := errors.AsType[redis.Error](err); ok {
		if code := errorCode.FindString(err.Error()); code != "" {
			return fmt.Errorf("%w: it says %s", ErrUnavailable, code)
		}
		return fmt.Errorf("%w: it gave an answer that is none", ErrUnavailable)
	}
	return fmt.Errorf("%w: no connection", ErrUnavailable)
}

// timedOut reports whether a connection's own time for a call was over.
func timedOut(err error) bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}
