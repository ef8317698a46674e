package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func checkCommand(w world) *cobra.Command {
	var path string
	var effective bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Validate the configuration: every error and warning with its line",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return check(w, path, effective)
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration file")
	c.Flags().BoolVar(&effective, "show-effective", false, "print the configuration with every default filled in, secrets redacted")
	return c
}

// check prints findings on stdout: they are the command's result.
func check(w world, path string, effective bool) error {
	cfg, err := load(world{getenv: w.getenv, stderr: w.stdout}, path)
	if err != nil {
		return err
	}
	for _, p := range cfg.Findings() {
		fmt.Fprintln(w.stdout, p)
	}
	if effective {
		if _, err := w.stdout.Write(cfg.Effective()); err != nil {
			return err
		}
	}
	if len(cfg.OpenListen()) > 0 {
		return errFinding
	}
	fmt.Fprintf(w.stdout, "%s: fine: %d roles, %d profiles, %d warnings\n", cfg.Path, len(cfg.Roles), len(cfg.Profiles), len(cfg.Warnings))
	return nil
}
