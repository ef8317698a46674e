package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc/PID/stat: USER_HZ, 100 a second on every architecture that Go runs on.
const tick = 10 * time.Millisecond

// cpuTime is what a process has taken so far, in user mode and in the kernel, all threads together.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStat(text)
}

// parseStat reads fields 14 and 15 of proc_pid_stat(5). The second one is the program's name in brackets, and may itself
// hold blanks and brackets.
func parseStat(text []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, errors.New("stat without a program's name")
	}
	fields := strings.Fields(string(text[end+1:])) // from field 3
	if len(fields) < 13 {
		return 0, fmt.Errorf("stat with %d fields", len(fields)+2)
	}
	var ticks uint64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("stat's times: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// residentKiB is the memory that a process has in RAM.
func residentKiB(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return parseStatus(text)
}

// parseStatus reads the line "VmRSS:	   12345 kB" of proc_pid_status(5).
func parseStatus(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		value, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		number, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, err := strconv.Atoi(number)
		if err != nil || unit != "kB" {
			return 0, fmt.Errorf("status has VmRSS %q", strings.TrimSpace(value))
		}
		return n, nil
	}
	return 0, errors.New("status without VmRSS")
}
