//go:build !linux

package proxy

import "testing"

// fullBacklog is nothing here: only Linux lets new connections hang when the queue is full.
func fullBacklog(*testing.T) string { return "" }
