package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hermes-hub/configs"
)

// finding is one line of doctor.
type finding struct {
	grade grade
	topic string // config, credential, port …
	text  string // one line, without any secret
}

// grade is how a finding turned out. Only broken makes doctor fail.
type grade string

// The grades, as they are printed.
const (
	fine   grade = "ok"
	odd    grade = "warn"
	broken grade = "FAIL"
)

func doctorCommand(w world) *cobra.Command {
	var path string
	var offline bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything the hub needs: exit 0 when nothing is broken",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			findings := examine(c.Context(), w, path, offline)
			printFindings(w.stdout, findings)
			if slices.ContainsFunc(findings, func(f finding) bool { return f.grade == broken }) {
				return errFinding
			}
			return nil
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration file")
	c.Flags().BoolVar(&offline, "offline", false, "leave out what needs the network")
	return c
}

// examine looks at everything, in the order in which a person would. Nothing is changed by it, and no credential is sent
// anywhere.
func examine(ctx context.Context, w world, path string, offline bool) []finding {
	cfg, findings := examineConfig(w, path)
	if cfg == nil {
		return append(findings, examineClock(time.Now(), time.Time{}))
	}
	findings = append(findings, examineCredentials(cfg, time.Now())...)
	findings = append(findings, examinePort(ctx, "proxy", cfg.Proxy.Listen), examinePort(ctx, "admin", cfg.Admin.Listen))
	findings = append(findings, examineDataDir(cfg.Server.DataDir), examineRedis(ctx, cfg, offline))
	if offline {
		return append(findings, examineClock(time.Now(), time.Time{}), finding{fine, "upstream", "not looked at: --offline"})
	}
	reached, date := examineUpstreams(ctx, cfg)
	return append(append(findings, examineClock(time.Now(), date)), reached...)
}

// examineConfig reads the file. Without a file that can be used there is nothing else to look at.
func examineConfig(w world, flag string) (*configs.Config, []finding) {
	path, _, err := configs.Search(flag, w.getenv)
	if err != nil {
		return nil, []finding{{broken, "config", err.Error()}}
	}
	file := configFile{path: path, getenv: w.getenv}
	cfg, err := file.load()
	if err != nil {
		return nil, problemFindings(err)
	}
	if open := cfg.OpenListen(); len(open) > 0 {
		return cfg, problemFindings(open)
	}
	size := fmt.Sprintf("%s: %d roles, %d profiles", cfg.Path, len(cfg.Roles), len(cfg.Profiles))
	if n := len(cfg.Findings()); n > 0 {
		return cfg, []finding{{odd, "config", fmt.Sprintf("%s, %d warnings: hermes-hub check lists them", size, n)}}
	}
	return cfg, []finding{{fine, "config", size}}
}

// problemFindings are a file's errors, a line each.
func problemFindings(err error) []finding {
	problems, ok := errors.AsType[configs.Problems](err)
	if !ok {
		return []finding{{broken, "config", err.Error()}}
	}
	findings := make([]finding, 0, len(problems))
	for _, p := range problems {
		findings = append(findings, finding{broken, "config", p.String()})
	}
	return findings
}

func printFindings(w io.Writer, findings []finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "%-4s  %-10s  %s\n", f.grade, f.topic, f.text)
	}
}
