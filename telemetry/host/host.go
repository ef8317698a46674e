// Package host measures the machine that the hub runs on: CPU, memory, root disk and network, as the UI state contract names
// them. In a container the numbers are those of the host, as its /proc tells them.
//
// A sample is whole or it is none: when one part cannot be read, nothing of it is told. What takes two readings to know is
// null after the first, never 0.
package host

// Measurement is the source of every Metrics.
const Measurement = "host_measurement"

// Metrics is one sample, under the UI state contract's names and in its order. What was not measured is null.
type Metrics struct {
	Source        string   `json:"source"`   // Measurement
	HasData       bool     `json:"has_data"` // false before the first sample, and while the machine cannot be read
	CPUPercent    *float64 `json:"cpu_percent"`
	MemoryPercent *float64 `json:"memory_percent"`
	MemoryUsedMB  *float64 `json:"memory_used_mb"` // of 1024² bytes, without what only caches hold
	MemoryTotalMB *float64 `json:"memory_total_mb"`
	DiskPercent   *float64 `json:"disk_percent"` // of what users may use, as df tells it
	DiskUsedGB    *float64 `json:"disk_used_gb"` // of 1024³ bytes
	DiskTotalGB   *float64 `json:"disk_total_gb"`
	NetSpeedMbps  *float64 `json:"net_speed_mbps"` // both directions, in 10⁶ bits a second, of all interfaces, loopback included
	NetSentMbps   *float64 `json:"net_sent_mbps"`
	NetRecvMbps   *float64 `json:"net_recv_mbps"`
	NetBytesSent  *uint64  `json:"net_bytes_sent"` // since the machine booted
	NetBytesRecv  *uint64  `json:"net_bytes_recv"`
}
