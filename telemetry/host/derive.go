package host

import (
	"math"
	"time"
)

// nothing is what is told without a sample.
func nothing() *Metrics { return &Metrics{Source: Measurement} }

// derive makes a sample of one reading and the one before it, nil when there was none; between is the time between them.
// Rates are left out while the network's counters have nothing to be compared with.
func derive(before, now *Reading, between time.Duration, rates bool) *Metrics {
	m := &Metrics{
		Source:        Measurement,
		HasData:       true,
		MemoryPercent: new(percent(float64(now.MemoryUsed), float64(now.MemoryTotal))),
		MemoryUsedMB:  new(rounded(float64(now.MemoryUsed)/(1<<20), 1)),
		MemoryTotalMB: new(rounded(float64(now.MemoryTotal)/(1<<20), 1)),
		DiskPercent:   new(percent(float64(now.DiskUsed), float64(now.DiskUsed)+float64(now.DiskFree))),
		DiskUsedGB:    new(rounded(float64(now.DiskUsed)/(1<<30), 1)),
		DiskTotalGB:   new(rounded(float64(now.DiskTotal)/(1<<30), 1)),
		NetBytesSent:  new(now.NetSent),
		NetBytesRecv:  new(now.NetRecv),
	}
	if before == nil {
		return m
	}
	busy, all := now.CPUBusy-before.CPUBusy, now.CPUAll-before.CPUAll
	if all > 0 && busy >= 0 { // a CPU that was taken away sets the sums back
		m.CPUPercent = new(percent(busy, all))
	}
	// A counter that went backwards has been reset: how much passed is unknown.
	if rates && between > 0 && now.NetSent >= before.NetSent && now.NetRecv >= before.NetRecv {
		sent, received := mbps(now.NetSent-before.NetSent, between), mbps(now.NetRecv-before.NetRecv, between)
		m.NetSentMbps, m.NetRecvMbps = new(rounded(sent, 2)), new(rounded(received, 2))
		m.NetSpeedMbps = new(rounded(sent+received, 2))
	}
	return m
}

func mbps(bytes uint64, in time.Duration) float64 { return float64(bytes) * 8 / 1e6 / in.Seconds() }

// percent is a part of a whole that is not 0.
func percent(part, whole float64) float64 { return rounded(min(max(part/whole*100, 0), 100), 1) }

// rounded keeps that many digits behind the point.
func rounded(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}
