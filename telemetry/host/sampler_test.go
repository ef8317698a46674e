package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shirou/gopsutil/v3/common"
)

// script is a machine whose readings are known beforehand; nil cannot be read. The last one stays.
type script struct {
	readings []*Reading
	at       int
}

var errUnreadable = errors.New("open /proc/stat: permission denied")

func (s *script) Read(context.Context) (Reading, error) {
	r := s.readings[min(s.at, len(s.readings)-1)]
	s.at++
	if r == nil {
		return Reading{}, errUnreadable
	}
	return *r, nil
}

const gb = 1 << 30

// reading is one with that much CPU, busy and in all, and that many bytes sent and received.
func reading(busy, all float64, sent, received uint64) *Reading {
	return &Reading{
		CPUBusy: busy, CPUAll: all, MemoryUsed: gb, MemoryTotal: 4 * gb,
		DiskUsed: 30 * gb, DiskFree: 60 * gb, DiskTotal: 100 * gb, NetSent: sent, NetRecv: received,
	}
}

// told is a sample in short: CPU, network speed, sent, received.
func told(m Metrics) string {
	if !m.HasData {
		text, _ := json.Marshal(m)
		if n := strings.Count(string(text), "null"); n != 12 {
			return fmt.Sprintf("no data, but only %d nulls: %s", n, text)
		}
		return "nothing"
	}
	var out []string
	for _, v := range []*float64{m.CPUPercent, m.NetSpeedMbps, m.NetSentMbps, m.NetRecvMbps} {
		if v == nil {
			out = append(out, "null")
		} else {
			out = append(out, fmt.Sprint(*v))
		}
	}
	return strings.Join(out, " ")
}

func TestSamples(t *testing.T) {
	f := func(name, want string, readings ...*Reading) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := New(Options{Source: &script{readings: readings}, Interval: time.Second})
			got := []string{told(s.Metrics())}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go s.Run(ctx)
			time.Sleep(warmUp)
			for range len(readings) - 1 {
				synctest.Wait()
				got = append(got, told(s.Metrics()))
				time.Sleep(time.Second)
			}
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("%s:\ngot  %s\nwant %s", name, text, want)
			}
		})
	}
	// T11: the first sample has a CPU that was measured, and no speed; the second has both.
	f("a machine at work", "nothing; 25 null null null; 50 3 1 2",
		reading(10, 100, 1000, 2000), reading(10.5, 102, 9000, 9000), reading(12.5, 106, 134_000, 259_000))
	f("an idle one", "nothing; 0 null null null; 0 0 0 0", reading(10, 100, 5, 5), reading(10, 102, 5, 5), reading(10, 104, 5, 5))
	// T11: counters that begin anew are no traffic, least of all negative.
	f("a reset interface", "nothing; 25 null null null; 50 null null null; 50 0.04 0.02 0.02",
		reading(10, 100, 9000, 9000), reading(10.5, 102, 9000, 9000), reading(12.5, 106, 100, 9000), reading(14.5, 110, 2600, 11_500))
	f("a CPU taken away", "nothing; 25 null null null; null 0 0 0; 50 0 0 0",
		reading(10, 100, 5, 5), reading(10.5, 102, 5, 5), reading(6, 60, 5, 5), reading(7, 62, 5, 5))
	f("less busy than before", "nothing; null null null null", reading(10, 100, 5, 5), reading(9, 102, 5, 5))
	f("no tick between", "nothing; null null null null", reading(10, 100, 5, 5), reading(10, 100, 5, 5))
	// T10: a machine that cannot be read has no data, and no zeros; the time it could not be read is not lost.
	f("unreadable", "nothing; nothing; nothing", nil, nil, nil)
	f("unreadable at first", "nothing; null null null null; 50 0 0 0", nil, reading(10, 100, 5, 5), reading(11, 102, 5, 5))
	f("unreadable for a while", "nothing; 25 null null null; nothing; 40 2 1 1",
		reading(10, 100, 0, 0), reading(10.5, 102, 0, 0), nil, reading(12.1, 106, 250_000, 250_000))
}

// The contract's names, order, units and rounding.
func TestMetricsJSON(t *testing.T) {
	m := derive(reading(10, 100, 0, 0), reading(11, 103, 1_234_567, 7_654_321), 2*time.Second, true)
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"source":"host_measurement","has_data":true,"cpu_percent":33.3,"memory_percent":25,"memory_used_mb":1024,"memory_total_mb":4096,` +
		`"disk_percent":33.3,"disk_used_gb":30,"disk_total_gb":100,"net_speed_mbps":35.56,"net_sent_mbps":4.94,"net_recv_mbps":30.62,` +
		`"net_bytes_sent":1234567,"net_bytes_recv":7654321}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// One line when it begins to fail and one when it works again, however long it failed; none for being stopped.
func TestFailuresAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := reading(10, 100, 0, 0)
		s := New(Options{Source: &script{readings: []*Reading{r, nil, nil, nil, r}}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() { defer close(stopped); s.Run(ctx) }()
		time.Sleep(time.Minute)
		cancel()
		<-stopped
		text := log.String()
		if strings.Count(text, "\n") != 2 || !strings.Contains(text, "cannot be measured") || !strings.Contains(text, "measured again") {
			t.Errorf("log:\n%s", text)
		}
	})
}

// This machine, whatever it is, tells something of itself.
func TestSystem(t *testing.T) {
	r, err := System{}.Read(t.Context())
	if err != nil {
		t.Skipf("this machine cannot be measured: %v", err)
	}
	m := derive(nil, &r, 0, false)
	if *m.MemoryTotalMB <= 0 || *m.DiskTotalGB <= 0 || *m.MemoryPercent <= 0 || *m.MemoryPercent > 100 || r.CPUAll < r.CPUBusy || r.CPUBusy <= 0 {
		t.Errorf("%+v", r)
	}
}

// T10: the library has no error for files of /proc that are missing or empty, but lists and sums of nothing.
func TestProcThatCannotBeRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a /proc to take away")
	}
	f := func(name string, have map[string]string, want string) {
		t.Helper()
		proc := t.TempDir()
		for file, text := range have {
			path := filepath.Join(proc, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ctx := context.WithValue(t.Context(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: proc})
		got := "read"
		if _, err := (System{Root: t.TempDir()}).Read(ctx); err != nil {
			got, _, _ = strings.Cut(err.Error(), ":")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	const stat = "cpu  100 0 50 800 10 0 0 0 0 0\n"
	const meminfo = "MemTotal: 1000 kB\nMemFree: 400 kB\nBuffers: 0 kB\nCached: 100 kB\n"
	const dev = "Inter-|   Receive  |  Transmit\n face |bytes packets\n  eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n"
	f("no /proc", nil, errNoCPU.Error())
	f("garbage", map[string]string{"stat": "\x00\xff"}, errNoCPU.Error())
	f("no memory", map[string]string{"stat": stat}, errNoMemory.Error())
	f("no network", map[string]string{"stat": stat, "meminfo": meminfo}, "read network counters")
	f("whole", map[string]string{"stat": stat, "meminfo": meminfo, "net/dev": dev}, "read")
}
