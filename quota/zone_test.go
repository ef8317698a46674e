package quota

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // what the table is held against, on machines without zones too
)

// TestZones holds every name of the table against the zones that Go brings along, on days of both halves of the coming
// years. It fails when a country changes its mind: then the line has to follow.
func TestZones(t *testing.T) {
	names := 0
	for line := range strings.Lines(zoneTable) {
		rule, rest, _ := strings.Cut(line, " ")
		for name := range strings.FieldsSeq(rest) {
			names++
			want, err := time.LoadLocation(name)
			if err != nil {
				t.Errorf("%s is no zone: %v", name, err)
				continue
			}
			got := zoneNamed(name)
			if got == nil {
				t.Errorf("%s with the rule %s is not found", name, rule)
				continue
			}
			for day := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC); day.Year() < 2029; day = day.AddDate(0, 0, 9) {
				if g, w := day.In(got).Format(time.DateTime), day.In(want).Format(time.DateTime); g != w {
					t.Errorf("%s at %s: %s, want %s", name, day.Format(time.DateOnly), g, w)
					break
				}
			}
		}
	}
	if names < 500 {
		t.Errorf("%d names, want all of them", names)
	}
}

// TestNoSuchZone: what is not the name of a zone is unknown.
func TestNoSuchZone(t *testing.T) {
	for _, name := range []string{"", "Europe", "Europe/", "EST5EDT,M3.2.0,M11.1.0", "europe/paris", "Paris", "Europe/Paris Europe/Rome", "Mars/Olympus", "<+01>-1"} {
		if got := zoneNamed(name); got != nil {
			t.Errorf("%q is the zone %s", name, got)
		}
	}
}
