package main

import (
	"syscall"
	"time"
)

// nap sleeps in a thread of its own. time.Sleep wakes up on the next whole millisecond when nothing else happens, which is
// longer than what the open loop measures.
func nap(d time.Duration) {
	if d <= 0 {
		return
	}
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // woken up early by a signal: a call comes a moment before it is due
}
