// Command load measures what the hub costs: the built binary, everything on, beside a bare httputil.ReverseProxy, over one
// mock upstream on loopback.
//
// Every part is a process of its own, so that the operating system can say what each of them costs:
//
//	load ──┬────────────────────▶ upstream     "direct": what the others' latency is compared with
//	       ├──▶ reverseproxy ───▶ upstream     the yardstick: a bare proxy with a tuned pool
//	       └──▶ hub ────────────▶ upstream     hermes-hub serve, with a configuration file
//
// Upstream and yardstick are this binary again, under another name (child.go). One measurement is one target under one
// scenario for a moment (measure.go). A round measures every target once; ratios compare the targets of one round, because
// the machine's next minute is another machine. Every answer's bytes are verified, and so is every request's at the
// upstream (ask.go): a wrong or short one ends the run.
//
// The generator and the upstream speak HTTP/1.1 by themselves (message.go): what they need is taken from the same cores.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(runUntilSignalled()) }

func runUntilSignalled() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	default:
		fmt.Fprintln(os.Stderr, "load:", err)
		return 1
	}
}

// run is the whole program: a child when it was started as one, else the measurement.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case upstreamChild:
			return serveUpstream(stdin, stdout)
		case yardstickChild:
			return serveYardstick(args[1:], stdin, stdout)
		}
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("not done within -limit %s", o.limit))
	defer cancel()
	return measureAll(ctx, o, stdout, stderr)
}

// measureAll measures, and tells the figures.
func measureAll(ctx context.Context, o options, stdout, stderr io.Writer) error {
	began := time.Now()
	binary, clean, err := hubBinary(ctx, o.hub)
	if err != nil {
		return err
	}
	defer clean()
	from := builds{binary, o.base}
	rounds, err := measureRounds(ctx, from, o, stderr)
	if err != nil {
		return err
	}
	idle, err := measureIdle(ctx, from, o, stderr)
	if err != nil {
		return err
	}
	r := summarize(append(rounds, idle...), o.against)
	r.Machine, r.Seconds = machine(), time.Since(began).Seconds()
	return r.write(stdout, o.json)
}

// measureRounds measures every scenario but the idle streams, in processes that live through them all.
func measureRounds(ctx context.Context, from builds, o options, progress io.Writer) (samples []sample, err error) {
	if len(o.scenarios) == 0 {
		return nil, nil
	}
	p, err := startParts(ctx, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	b := &bench{parts: p, window: o.window, warm: o.warm, progress: progress}
	return b.run(ctx, o.scenarios, o.rounds)
}
