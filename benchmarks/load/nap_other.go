//go:build !linux

package main

import "time"

// nap sleeps. It is only here to let the package compile: without /proc nothing is measured.
func nap(d time.Duration) { time.Sleep(d) }
