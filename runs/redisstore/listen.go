package redisstore

import (
	"context"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// bells is how many channels there are to ring in, so that no server of a cluster has to carry all.
const bells = 16

// bell is the channel of a run's bell. What is said there is who rings, and the run.
func (s *Store) bell(runID string) string {
	return s.channel(crc32.ChecksumIEEE([]byte(runID)) % bells)
}

func (s *Store) channel(n uint32) string { return s.o.Prefix + "bell:" + strconv.Itoa(int(n)) }

// healthEvery is how often a connection that nobody rings on shows that it is alive.
const healthEvery = 3 * time.Second

// Listen calls ring for each run to which another hub has appended, until ctx is done: runs.Journal.Ring, for one. It has one
// connection, which it makes anew for as long as it takes. What is rung meanwhile is not heard, which is what
// runs.Options.Poll is for.
func (s *Store) Listen(ctx context.Context, ring func(runID string)) {
	channels := make([]string, bells)
	for n := range channels {
		channels[n] = s.channel(uint32(n))
	}
	heard := s.client.Subscribe(ctx, channels...)
	defer func() { _ = heard.Close() }() // nothing is left to be lost
	messages := heard.Channel(redis.WithChannelHealthCheckInterval(healthEvery))
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok { // the client was closed
				return
			}
			if from, runID, ok := strings.Cut(m.Payload, " "); ok && (from == "" || from != s.o.Instance) {
				ring(runID)
			}
		}
	}
}
