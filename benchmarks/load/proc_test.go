package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestStat(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		d, err := parseStat([]byte(text))
		got := d.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
	f("23248 (cat) R 23245 23245 13515 0 -1 4194304 115 0 0 0 150 25 0 0 20 0 1 0 364148 3133440 412\n", "1.75s")
	f("1 (a) b (c 7) S 1 1 1 0 -1 0 0 0 0 0 3 4 0 0 20 0 1 0 1 1 1", "70ms")
	f("1 (short) S 1 1", "stat with 5 fields")
	f("no name", "stat without a program's name")
	f("1 (x) S 1 1 1 0 -1 0 0 0 0 0 3 many 0", `stat's times: strconv.ParseUint: parsing "many": invalid syntax`)
}

func TestStatus(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		n, err := parseStatus([]byte(text))
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
	f("Name:\thub\nVmHWM:\t   99 kB\nVmRSS:\t   12345 kB\nRssAnon:\t 1 kB\n", "12345")
	f("VmRSS:\t12 MB\n", `status has VmRSS "12 MB"`)
	f("Name:\tzombie\n", "status without VmRSS")
}

func TestOwnProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("/proc (this is %s)", runtime.GOOS)
	}
	if _, err := cpuTime(os.Getpid()); err != nil {
		t.Error(err)
	}
	if n, err := residentKiB(os.Getpid()); err != nil || n < 1024 {
		t.Errorf("%d KiB, %v", n, err)
	}
}

func FuzzProc(f *testing.F) {
	f.Add("1 (a) S 1 1 1 0 -1 0 0 0 0 0 3 4 0 0", "VmRSS: 1 kB")
	f.Fuzz(func(t *testing.T, stat, status string) {
		if _, err := parseStat([]byte(stat)); err == nil && !strings.Contains(stat, ")") {
			t.Error("read a stat that names no program")
		}
		if _, err := parseStatus([]byte(status)); err == nil && !strings.Contains(status, "VmRSS:") {
			t.Error("read a status without the line")
		}
	})
}

func TestMetrics(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		a, err := parseMetrics(strings.NewReader(text))
		got := fmt.Sprint(a)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("# HELP go_memstats_mallocs_total x\ngo_memstats_mallocs_total 1.234567e+06\nother 1\ngo_memstats_alloc_bytes_total 4096\n", "{1234567 4096}")
	f("go_memstats_mallocs_total 1\n", "metrics lack 1 of the two counts of allocations")
	f("go_memstats_mallocs_total one\n", `metric go_memstats_mallocs_total: strconv.ParseFloat: parsing "one": invalid syntax`)
}
