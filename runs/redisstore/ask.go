package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	askedFor    = 10 * time.Second // that a question is worth an answer
	listenFor   = time.Second      // of one wait for a question: so long does Answer take to end
	mostAsked   = 32               // questions that are answered at the same time
	answerPause = time.Second      // after a Redis that did not answer
)

// question is what one hub asks another. Nobody answers one that is older than askedFor: its asker is gone.
type question struct {
	ID   string `json:"id"`
	At   int64  `json:"at"` // epoch milliseconds, of the asker's clock
	Body []byte `json:"body"`
}

// ErrNobody is a hub that does not answer: it is gone, or too busy.
var ErrNobody = errors.New("the other hub does not answer")

// Ask has another hub answer a question, whatever the two mean by it. It waits for the answer as long as ctx does, and no
// longer than ten seconds: ErrNobody. What was asked may have been done all the same.
func (s *Store) Ask(ctx context.Context, instance string, body []byte) ([]byte, error) {
	var id [16]byte
	rand.Read(id[:]) //nolint:errcheck // never fails
	q := question{hex.EncodeToString(id[:]), time.Now().UnixMilli(), body}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	pipe := s.client.TxPipeline()
	pipe.LPush(ctx, s.asked(instance), text)
	pipe.PExpire(ctx, s.asked(instance), askedFor)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, unavailable(err)
	}
	answer, err := s.client.BRPop(ctx, askedFor, s.answered(q.ID)).Result()
	switch {
	case errors.Is(err, redis.Nil), ctx.Err() != nil, timedOut(err):
		return nil, ErrNobody
	case err != nil:
		return nil, unavailable(err)
	}
	return []byte(answer[1]), nil
}

// Answer answers what other hubs ask this one, until ctx is done and the last answer was given.
func (s *Store) Answer(ctx context.Context, answer func(ctx context.Context, body []byte) []byte) {
	var busy sync.WaitGroup
	defer busy.Wait()
	free := make(chan struct{}, mostAsked)
	for ctx.Err() == nil {
		got, err := s.client.BRPop(ctx, listenFor, s.asked(s.o.Instance)).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(answerPause):
			}
			continue
		}
		var q question
		if json.Unmarshal([]byte(got[1]), &q) != nil || time.Since(time.UnixMilli(q.At)) > askedFor {
			continue
		}
		free <- struct{}{}
		busy.Go(func() {
			defer func() { <-free }()
			said := answer(ctx, q.Body)
			pipe := s.client.TxPipeline()
			bounded, cancel := s.bounded(context.WithoutCancel(ctx))
			defer cancel()
			pipe.LPush(bounded, s.answered(q.ID), said)
			pipe.PExpire(bounded, s.answered(q.ID), askedFor)
			_, _ = pipe.Exec(bounded) // who asked finds out by waiting in vain
		})
	}
}

func (s *Store) asked(instance string) string { return s.o.Prefix + "ask:" + instance }
func (s *Store) answered(id string) string    { return s.o.Prefix + "answer:" + id }
