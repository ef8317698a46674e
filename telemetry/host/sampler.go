package host

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	every  = 5 * time.Second        // the interval that is taken when none is given
	warmUp = 250 * time.Millisecond // before the first sample, so that its CPU is measured; a tick of the kernel's is 10 ms
)

// Options is what a Sampler needs.
type Options struct {
	Source   Source        // nil: System
	Interval time.Duration // between samples; 0 = 5 s
	Logger   *slog.Logger  // nil: silent
}

// Sampler keeps the newest sample of the machine.
type Sampler struct {
	source   Source
	interval time.Duration
	log      *slog.Logger
	newest   atomic.Pointer[Metrics]

	// Run's.
	before *Reading // the last reading, nil when there is none
	at     time.Time
	rates  bool // before was told, so that the network's rates have a sample to count from
	failed bool
}

// New returns a sampler that has no sample before Run.
func New(o Options) *Sampler {
	s := &Sampler{source: o.Source, interval: cmp.Or(o.Interval, every), log: o.Logger}
	if s.source == nil {
		s.source = System{}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.newest.Store(nothing())
	return s
}

// Metrics is the newest sample. It may be called by any number of goroutines at once.
func (s *Sampler) Metrics() Metrics { return *s.newest.Load() }

// Run samples until ctx is done.
func (s *Sampler) Run(ctx context.Context) {
	s.before, s.at = s.read(ctx), time.Now()
	for wait := warmUp; pause(ctx, wait); wait = s.interval {
		s.sample(ctx)
	}
}

// sample takes the next sample and tells it.
func (s *Sampler) sample(ctx context.Context) {
	now, at := s.read(ctx), time.Now()
	if now == nil {
		s.newest.Store(nothing())
		return
	}
	s.newest.Store(derive(s.before, now, at.Sub(s.at), s.rates))
	s.before, s.at, s.rates = now, at, true
}

// read returns nil when the machine cannot be read, and logs when that begins and ends.
func (s *Sampler) read(ctx context.Context) *Reading {
	r, err := s.source.Read(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil && !s.failed:
		s.log.Warn("the host cannot be measured", "error", err)
	case err == nil && s.failed:
		s.log.Info("the host is measured again")
	}
	s.failed = err != nil
	if err != nil {
		return nil
	}
	return &r
}

// pause waits; it reports false when ctx was done first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
