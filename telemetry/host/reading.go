package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/disk"
	"github.com/shirou/gopsutil/v3/mem"
	"github.com/shirou/gopsutil/v3/net"
)

// Reading is what the machine's counters show at one moment.
type Reading struct {
	CPUBusy, CPUAll               float64 // seconds since boot of all CPUs together; waiting for a disk is not busy
	MemoryUsed, MemoryTotal       uint64  // bytes
	DiskUsed, DiskFree, DiskTotal uint64  // bytes; free is what users may still take
	NetSent, NetRecv              uint64  // bytes since boot
}

// Source reads the machine.
type Source interface {
	Read(ctx context.Context) (Reading, error)
}

// System reads the machine that the program runs on.
type System struct{ Root string } // Root is a path on the disk that counts, "/" when empty

// The library returns empty lists and zeros, and no error, for files of /proc that it could not read.
var (
	errNoCPU     = errors.New("the system tells no CPU times")
	errNoMemory  = errors.New("the system tells no memory")
	errNoDisk    = errors.New("the disk tells no size")
	errNoNetwork = errors.New("the system tells no network counters")
)

// Read implements Source. The percentages of the library are not used: its CPU percentage is kept in a variable that the
// whole process shares, and is 0 at first.
func (s System) Read(ctx context.Context) (Reading, error) {
	var r Reading
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil {
		return r, fmt.Errorf("read CPU times: %w", err)
	}
	if len(times) == 0 {
		return r, errNoCPU
	}
	t := times[0] // guests' times are part of user and nice
	r.CPUBusy = t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
	r.CPUAll = r.CPUBusy + t.Idle + t.Iowait

	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return r, fmt.Errorf("read memory: %w", err)
	}
	if memory.Total == 0 {
		return r, errNoMemory
	}
	r.MemoryUsed, r.MemoryTotal = memory.Used, memory.Total

	root := s.Root
	if root == "" {
		root = "/"
	}
	space, err := disk.UsageWithContext(ctx, root)
	if err != nil {
		return r, fmt.Errorf("read disk %s: %w", root, err)
	}
	if space.Used+space.Free == 0 {
		return r, errNoDisk
	}
	r.DiskUsed, r.DiskFree, r.DiskTotal = space.Used, space.Free, space.Total

	traffic, err := net.IOCountersWithContext(ctx, false)
	if err != nil {
		return r, fmt.Errorf("read network counters: %w", err)
	}
	if len(traffic) == 0 {
		return r, errNoNetwork
	}
	r.NetSent, r.NetRecv = traffic[0].BytesSent, traffic[0].BytesRecv
	return r, nil
}
