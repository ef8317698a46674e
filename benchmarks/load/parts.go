package main

import (
	"context"
	"errors"
	"fmt"
)

// target is one way to the upstream.
type target struct {
	name string
	addr string // host:port
	path string
	pid  int
	// allocated is what its process has allocated so far; nil = not known.
	allocated func(context.Context) (allocations, error)
	foreign   bool // the answers come from accounts of another protocol, and are translated
	kept      bool // it keeps less or more of its calls than it does by default
	// flaw is why it may break an answer. Such answers are counted; everywhere else one ends the run.
	flaw string
}

// parts are the processes of a run and the ways through them.
type parts struct {
	targets []*target
	// connections is how many the upstream has accepted so far.
	connections func() (uint64, error)
	release     func() error // lets held streams go on
	stops       []func() error
}

// The names of the targets. Ratios are against the yardstick, added latency against direct.
const (
	directName    = "direct"
	yardstickName = "reverseproxy"
	hubName       = "hub"
	baseName      = "hub-base" // another build of the hub

	foreignSuffix = ", translated" // of a hub whose accounts speak another protocol than the client
	nothingSuffix = ", off"        // of one whose calls leave nothing in the journal
	wordsSuffix   = ", words"      // of one whose calls leave their words there
)

// builds are the hub's binaries: the one to measure, and another to measure beside it, "" = none.
type builds struct{ hub, base string }

// startParts starts all processes.
func startParts(ctx context.Context, from builds) (_ *parts, err error) {
	p := &parts{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	up, err := startChild(ctx, upstreamChild)
	if err != nil {
		return nil, err
	}
	p.stops = append(p.stops, up.stop)
	yard, err := startChild(ctx, yardstickChild, up.addr)
	if err != nil {
		return nil, err
	}
	p.stops = append(p.stops, yard.stop)

	const path = "/v1/chat/completions"
	p.targets = []*target{
		{name: directName, addr: up.addr, path: path, pid: up.cmd.Process.Pid},
		{
			name: yardstickName, addr: yard.addr, path: path, pid: yard.cmd.Process.Pid, allocated: yard.allocated,
			flaw: "golang/go#40747: the server closes a body that the transport still reads when the answer is quick",
		},
	}
	for _, b := range []struct{ name, binary, record string }{
		{hubName, from.hub, ""}, {hubName + nothingSuffix, from.hub, "off"}, {hubName + wordsSuffix, from.hub, "content"}, {baseName, from.base, ""},
	} {
		if b.binary == "" {
			continue
		}
		h, err := startHub(ctx, b.binary, up.addr, b.record)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		p.stops = append(p.stops, h.stop)
		own := target{name: b.name, addr: h.addr, path: hubPath, pid: h.cmd.Process.Pid, allocated: h.allocated, kept: b.record != ""}
		p.targets = append(p.targets, &own)
		if b.name == hubName { // the other build may not know how
			translated := own
			translated.name, translated.path, translated.foreign = b.name+foreignSuffix, foreignPath, true
			p.targets = append(p.targets, &translated)
		}
	}
	p.connections = func() (uint64, error) {
		c, err := up.ask(askCounts)
		return c.Connections, err
	}
	p.release = func() error {
		_, err := up.ask(askRelease)
		return err
	}
	return p, nil
}

// allocated asks a child.
func (p *process) allocated(context.Context) (allocations, error) {
	c, err := p.ask(askCounts)
	return c.allocations, err
}

// stop ends the processes, the last started first.
func (p *parts) stop() error {
	var errs []error
	for len(p.stops) > 0 {
		last := len(p.stops) - 1
		errs = append(errs, p.stops[last]())
		p.stops = p.stops[:last]
	}
	return errors.Join(errs...)
}
