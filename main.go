// Command hermes-hub routes LLM agents over several provider accounts behind one base URL.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(runUntilSignalled()) }

// runUntilSignalled ends its context at the first SIGTERM or SIGINT, which begins a drain. Listening stops there, so a
// second signal ends the process at once.
func runUntilSignalled() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], world{getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, hangups: hangups})
}

// hangups collects SIGHUP. One that waits is enough: it makes the file be read as it is then.
func hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
