package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"
)

// options are a run's bounds and what it measures.
type options struct {
	hub       string // path of the hub's binary; "" = build it
	base      string // path of another build of it, measured beside it; "" = none
	scenarios []scenario
	rounds    int
	window    time.Duration // of one measurement
	warm      time.Duration // before it, not counted
	idle      int           // open streams whose memory is measured; 0 = none
	limit     time.Duration // of the whole run
	against   string        // the target that the others are compared with
	json      string        // file for the figures as JSON; "-" = stdout instead of the table
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(stderr)
	quick := f.Bool("quick", false, "three short rounds of the main scenarios: under a minute")
	only := f.String("only", "", "regular expression that the scenarios' names must match")
	f.StringVar(&o.hub, "hub", "", "the hub's binary (default: build it)")
	f.StringVar(&o.base, "base", "", "another build of the hub, to be measured beside it")
	f.IntVar(&o.rounds, "rounds", 0, "rounds: each measures every target once (default 7, with -quick 3)")
	f.DurationVar(&o.window, "window", 0, "length of one measurement (default 2s, with -quick 800ms)")
	f.IntVar(&o.idle, "idle", -1, "open streams whose memory is measured (default 2000, with -quick 0 = none)")
	f.DurationVar(&o.limit, "limit", 0, "the run fails when it takes longer (default 30m, with -quick 2m)")
	f.StringVar(&o.against, "against", yardstickName, "the target that the others are compared with")
	f.StringVar(&o.json, "json", "", "write the figures as JSON to this file; - = to stdout, instead of the table")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	full := options{rounds: 7, window: 2 * time.Second, idle: 2000, limit: 30 * time.Minute}
	o.scenarios = quickScenarios
	if *quick {
		full = options{rounds: 3, window: 800 * time.Millisecond, idle: 0, limit: 2 * time.Minute}
	} else {
		o.scenarios = slices.Concat(quickScenarios, moreScenarios)
	}
	o.fill(full)
	if o.rounds < 1 || o.rounds > 100 || o.window < 0 || o.window > time.Minute || o.idle > 9500 {
		return o, errors.New("-rounds must be 1 to 100, -window at most 1m, -idle at most 9500")
	}
	if names := []string{yardstickName, hubName, hubName + nothingSuffix, baseName}; !slices.Contains(names, o.against) {
		return o, fmt.Errorf("-against must be one of %q", names)
	}
	return o, o.choose(*only)
}

// fill sets what was not given.
func (o *options) fill(full options) {
	if o.rounds == 0 {
		o.rounds = full.rounds
	}
	if o.window == 0 {
		o.window = full.window
	}
	if o.idle < 0 {
		o.idle = full.idle
	}
	if o.limit == 0 {
		o.limit = full.limit
	}
	o.warm = o.window / 4
}

// choose keeps the scenarios whose names match.
func (o *options) choose(only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	o.scenarios = slices.DeleteFunc(slices.Clone(o.scenarios), func(s scenario) bool { return !pattern.MatchString(s.Name) })
	if !pattern.MatchString(idleName) {
		o.idle = 0
	}
	if len(o.scenarios) == 0 && o.idle == 0 {
		return fmt.Errorf("-only %q matches no scenario", only)
	}
	return nil
}
