package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes-hub/configs"
)

// world is what a command has of the outside: tests bring their own.
type world struct {
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	// hangups begins to collect SIGHUP, which would end the process otherwise; stop gives it back. nil: there are none.
	hangups func() (signals <-chan os.Signal, stop func())
}

// The exit codes of the contract.
const (
	exitFine    = 0
	exitFinding = 1 // a finding or a failure
	exitUsage   = 2
)

// errFinding ends a command that has already said what it found.
var errFinding = errors.New("finding")

// usageError is a mistake in how a command was called.
type usageError struct{ error }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, w world) int {
	root := commands(w)
	root.SetArgs(args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errFinding):
		return exitFinding
	}
	fmt.Fprintf(w.stderr, "hermes-hub: %v\n", err)
	if _, misused := errors.AsType[usageError](err); misused || strings.HasPrefix(err.Error(), "unknown command") {
		return exitUsage
	}
	return exitFinding
}

// commands is the table of commands.
func commands(w world) *cobra.Command {
	root := &cobra.Command{
		Use:           "hermes-hub",
		Short:         "One base URL for agents, a chain of provider accounts behind it",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_ = c.Help()
			return usageError{errors.New("name a command")}
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		demoCommand(w),
		serveCommand(w),
		checkCommand(w),
		doctorCommand(w),
		quotaCommand(w),
		explainCommand(w),
		tokenCommand(w),
		healthcheckCommand(w),
		versionCommand(w),
	)
	return root
}

// noArgs and atMostOne are cobra's checks with the exit code of a misuse.
func noArgs(c *cobra.Command, args []string) error {
	if err := cobra.NoArgs(c, args); err != nil {
		return usageError{err}
	}
	return nil
}

func atMostOne(c *cobra.Command, args []string) error {
	if err := cobra.MaximumNArgs(1)(c, args); err != nil {
		return usageError{err}
	}
	return nil
}

// load finds and reads the configuration file. A file with errors prints every one of them and is a finding.
func load(w world, flag string) (*configs.Config, error) {
	path, _, err := configs.Search(flag, w.getenv)
	if err != nil {
		return nil, err
	}
	cfg, err := configs.Load(path, w.getenv)
	return cfg, w.print(err)
}

// print writes the problems of a configuration file where they can be read, and leaves the finding of it. Any other error
// stays what it is.
func (w world) print(err error) error {
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		fmt.Fprintln(w.stderr, problems.Error())
		return errFinding
	}
	return err
}

// makeDataDir creates the folder of what must survive the process, for its owner alone.
func makeDataDir(dir string) error {
	if dir == "" {
		return errors.New("no data dir: neither server.data_dir, XDG_DATA_HOME nor HOME is set; name one with --data-dir")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create data dir: %w", err)
	}
	return nil
}

// collectHangups is hangups, or a channel on which nothing comes.
func (w world) collectHangups() (signals <-chan os.Signal, stop func()) {
	if w.hangups == nil {
		return nil, func() {}
	}
	return w.hangups()
}
