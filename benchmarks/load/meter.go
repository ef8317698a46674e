package main

import (
	"context"
	"time"
)

// meter is what stood on a target's counters, or what was added since.
type meter struct {
	cpu         time.Duration
	connections uint64 // the upstream's
	allocations
	asking allocations // what it costs the target to be asked for its allocations
}

// begin reads the counters, the processor's last: being asked is not part of what is measured.
func (b *bench) begin(ctx context.Context, t *target) (m meter, err error) {
	if t.allocated != nil {
		first, err := t.allocated(ctx)
		if err != nil {
			return m, err
		}
		if m.allocations, err = t.allocated(ctx); err != nil {
			return m, err
		}
		m.asking = m.allocations.since(first)
	}
	if m.connections, err = b.connections(); err != nil {
		return m, err
	}
	m.cpu, err = cpuTime(t.pid)
	return m, err
}

// end reads what was added to the counters, the processor's first.
func (b *bench) end(ctx context.Context, t *target, before meter) (m meter, err error) {
	cpu, err := cpuTime(t.pid)
	if err != nil {
		return m, err
	}
	m.cpu = cpu - before.cpu
	connections, err := b.connections()
	if err != nil {
		return m, err
	}
	m.connections = connections - before.connections
	if t.allocated != nil {
		now, err := t.allocated(ctx)
		if err != nil {
			return m, err
		}
		m.allocations = now.since(before.allocations).since(before.asking)
	}
	return m, nil
}

// since is what was allocated after then; nothing rather than less than nothing.
func (a allocations) since(then allocations) allocations {
	return allocations{a.Count - min(then.Count, a.Count), a.Bytes - min(then.Bytes, a.Bytes)}
}
