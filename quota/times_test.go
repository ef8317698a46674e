package quota

import (
	"testing"
	"time"
)

// TestParseDuration: every spelling of a duration that a field may have.
func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"6m0s":                              6 * time.Minute,
		"1s":                                time.Second,
		"20ms":                              20 * time.Millisecond,
		"1m0.052s":                          time.Minute + 52*time.Millisecond,
		"7m13.152s":                         7*time.Minute + 13152*time.Millisecond,
		"1.984999999s":                      1984999999,
		"479.417207ms":                      479417207,
		"108h48m29s":                        391709 * time.Second, // Q01
		"391609.795772632":                  0,                    // no unit: the field's own parser knows it
		"0.539477544s":                      539477544,
		"10h 37m":                           10*time.Hour + 37*time.Minute,
		"2hr 15min":                         2*time.Hour + 15*time.Minute,
		"10 days 19 hours":                  259 * time.Hour,
		"4 days":                            96 * time.Hour,
		"1 minute and 5 s":                  65 * time.Second,
		"1 hour, 2 mins":                    62 * time.Minute,
		"26 SECONDS":                        26 * time.Second,
		"5 second(s)":                       5 * time.Second,
		"2 hours 30 days":                   0, // units only get smaller
		"30s30s":                            0,
		"-5s":                               0,
		"5 apples":                          0,
		"1e9s":                              0,
		"s":                                 0,
		"":                                  0,
		"500 weeks":                         0, // more than 400 days
		"99999999999999999999999999999999h": 0,
	} {
		if got, ok := parseDuration(text); got.Round(time.Microsecond) != want.Round(time.Microsecond) && want != 0 || ok != (want != 0) {
			t.Errorf("%q is %v (%v), want %v", text, got, ok, want)
		}
	}
}

// TestParseInstant (Q25): epoch seconds and milliseconds, RFC 3339, HTTP dates, offsets, and times without a zone, which are
// unknown unless the provider's zone is.
func TestParseInstant(t *testing.T) {
	beijing := time.FixedZone("", 8*3600)
	for _, c := range []struct {
		text string
		zone *time.Location
		want string // "" = unknown
	}{
		{"1749924000", nil, "2025-06-14T18:00:00Z"},
		{"1744848000000", nil, "2025-04-17T00:00:00Z"},
		{"1744848000.5", nil, "2025-04-17T00:00:00.5Z"},
		{"2025-06-02T15:15:48Z", nil, "2025-06-02T15:15:48Z"},
		{"2025-06-02T07:00:00.528743+00:00", nil, "2025-06-02T07:00:00.528743Z"},
		{"2026-07-25T14:05:00+02:00", nil, "2026-07-25T12:05:00Z"},
		{"Sat, 25 Jul 2026 12:10:30 GMT", nil, "2026-07-25T12:10:30Z"},
		{"Saturday, 25-Jul-26 12:01:00 GMT", nil, "2026-07-25T12:01:00Z"},
		{"Sat Jul 25 12:01:00 2026", nil, "2026-07-25T12:01:00Z"},
		{"2026-08-03 23:59:59 +0800 CST", nil, "2026-08-03T15:59:59Z"},
		{"2026-04-01 00:00 UTC", nil, "2026-04-01T00:00:00Z"},
		{"2026-09-09 05:38:28", beijing, "2026-09-08T21:38:28Z"},
		{"2026-09-09 05:38:28", nil, ""},
		{"2026-09-09T05:38:28", nil, ""},
		{"0", nil, ""},
		{"-1", nil, ""},
		{"", nil, ""},
		{"NaN", nil, ""},
		{"soon", nil, ""},
		{"12345", nil, ""},
		{"99999999999999999", nil, ""},
		{"1e18", nil, ""},
		{"2026-13-45T99:00:00Z", nil, ""},
	} {
		got, ok := parseInstant(c.text, c.zone)
		if text := got.Format(time.RFC3339Nano); ok != (c.want != "") || ok && text != c.want {
			t.Errorf("%q is %s (%v), want %q", c.text, text, ok, c.want)
		}
	}
}

// TestParseReset: one header, four units, told apart by their magnitude.
func TestParseReset(t *testing.T) {
	for text, want := range map[string]string{
		"6ms": "12:00:00.006", "1m0.052s": "12:01:00.052", "50": "12:00:50", "11.38": "12:00:11.38", "1784981100": "12:05:00",
		"1784981100000": "12:05:00", "2026-07-25T14:05:00+02:00": "12:05:00", "1784980700": "11:58:20",
		"0": "", "-1": "", "": "", "0s": "", "soon": "", "1000000": "12:00:00" /* 11 days */, "999999999": "", "1000000000": "",
	} {
		got, ok := parseReset(text, noon, nil)
		if text := got.Format("15:04:05.999999999"); ok != (want != "") || ok && text != want && got.Sub(noon) < 24*time.Hour {
			t.Errorf("%q is %s (%v), want %q", text, got, ok, want)
		}
	}
}

// TestProseTimes: what messages say about when to come back, and what they do not say.
func TestProseTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Please try again in 9.816s. Visit https://example.com/limits.":            9816 * time.Millisecond,
		"Please try again in 644ms.":                                               644 * time.Millisecond,
		"Please try again in 1h2m.":                                                62 * time.Minute,
		"[retrying in 10h 37m attempt #1]":                                         637 * time.Minute,
		"Your quota will reset after 2h4m12s.":                                     7452 * time.Second,
		"Resets in 108h48m29s.":                                                    391709 * time.Second, // Q01
		"It will reset in 10 days 19 hours.":                                       259 * time.Hour,
		"5-hour usage limit reached. Resets in 2hr 15min. To continue, enable it.": 135 * time.Minute,
		"Please wait 26 seconds before retrying.":                                  26 * time.Second,
		"Please upgrade your plan or wait 6 seconds for your limit to reset.":      6 * time.Second,
		"retry after 1 seconds":                                                    time.Second,
		"Please wait a moment. Try again in 5 minutes, or try again in 2 hours.":   5 * time.Minute,
		"Limit 7000, Used 0, Requested ~12903.":                                    0,
		"Requests per Minute (actual/limit): 73/60":                                0,
		"Please try again later.":                                                  0,
		"usage resets over a rolling 24-hour window":                               0,
		"Please try again in 0s.":                                                  0,
		"We preset in 5 seconds":                                                   0,
		"Resets at 2026-07-25T20:00:00+08:00":                                      0, // that is noon itself
		"Resets at 2026-07-25T21:00:00+08:00":                                      time.Hour,
		"Resets at 2026-07-25 18:00:00":                                            0, // zone unknown
		"You will regain access on 2026-08-01 at 00:00 UTC.":                       156 * time.Hour,
		"Free quota used. Resets at 10:00 UTC. Top up to continue.":                22 * time.Hour,
		"Access resets at 10:57 PM GMT-3.":                                         13*time.Hour + 57*time.Minute,
		"Your limit will reset at 2026-08-03 23:59:59 +0800 CST. Upgrade.":         219*time.Hour + 59*time.Minute + 59*time.Second,
		"resets at 2am": 0, "resets at 8pm PST": 0, "try again at 12:50 AM": 0, "resets on April 20, 2026 at 2:00 AM": 0,
	} {
		a := take(Response{Status: 429, Body: []byte(text), At: noon}, dialectOf("generic"))
		got, ok := a.wordsWait(nil)
		if got.after != want || ok != (want != 0) {
			t.Errorf("%q: %v (%v), want %v", text, got.after, ok, want)
		}
	}
}

// TestClockTime: an instant as people write it; without a date the next one, without a zone none.
func TestClockTime(t *testing.T) {
	for _, c := range []struct{ at, text, want string }{
		{"2026-05-31T23:59:00Z", "00:00 UTC", "2026-06-01T00:00:00Z"},
		{"2026-06-01T00:00:00Z", "00:00 UTC", "2026-06-02T00:00:00Z"},
		{"2026-03-13T20:00:00Z", "10:57 PM GMT-3", "2026-03-14T01:57:00Z"},
		{"2026-03-13T01:00:00Z", "10:57 PM GMT-3", "2026-03-13T01:57:00Z"},
		{"2026-04-02T19:56:07Z", "8pm (America/New_York)", "2026-04-03T00:00:00Z"},
		{"2026-06-30T08:47:25Z", "4am (Europe/Paris)", "2026-07-01T02:00:00Z"},
		{"2026-12-30T08:47:25Z", "4am (Europe/Paris)", "2026-12-31T03:00:00Z"}, // winter
		{"2026-06-30T08:00:00Z", "9:10pm (Europe/Kiev)", "2026-06-30T18:10:00Z"},
		{"2026-06-30T08:00:00Z", "9:30 am (Asia/Calcutta)", "2026-07-01T04:00:00Z"},
		{"2026-10-05T08:00:00Z", "Oct 9 at 5pm (Asia/Calcutta)", "2026-10-09T11:30:00Z"},
		{"2026-10-05T08:00:00Z", "Oct 9, 5pm (Europe/London)", "2026-10-09T16:00:00Z"},
		{"2026-07-10T00:00:00Z", "Jul 14th, 2026 7:23 PM UTC", "2026-07-14T19:23:00Z"},
		{"2026-07-10T00:00:00Z", "Tuesday, July 14, 2026 at 19:23 UTC+2", "2026-07-14T17:23:00Z"},
		{"2026-07-10T00:00:00Z", "14 July 2026 19:23:30 GMT", "2026-07-14T19:23:30Z"},
		{"2026-12-30T00:00:00Z", "Jan 2, 6am UTC", "2027-01-02T06:00:00Z"},
		{"2026-07-10T00:00:00Z", "12am UTC", "2026-07-11T00:00:00Z"},
		{"2026-07-10T00:00:00Z", "12:30 p.m. UTC", "2026-07-10T12:30:00Z"},
		{"2026-07-10T00:00:00Z", "06:15 +0530", "2026-07-10T00:45:00Z"},
		{"2026-07-10T00:00:00Z", "06:15 GMT-03:30", "2026-07-10T09:45:00Z"},
		{"2026-07-10T00:00:00Z", "2am", ""},
		{"2026-07-10T00:00:00Z", "12:50 AM", ""},
		{"2026-07-10T00:00:00Z", "8pm PST", ""},
		{"2026-07-10T00:00:00Z", "8pm (Mars/Olympus)", ""},
		{"2026-07-10T00:00:00Z", "Jul 14th, 2026 7:23 PM", ""},
		{"2026-07-10T00:00:00Z", "Oct 7", ""},
		{"2026-07-10T00:00:00Z", "Oct 7 UTC", ""},
		{"2026-07-10T00:00:00Z", "13pm UTC", ""},
		{"2026-07-10T00:00:00Z", "24:00 UTC", ""},
		{"2026-07-10T00:00:00Z", "5 UTC", ""},
		{"2026-07-10T00:00:00Z", "11/17/2025", ""},
		{"2026-07-10T00:00:00Z", "", ""},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if found, ok := clockTime(c.text, at, nil); ok {
			got = found.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s after %s is %q, want %q", c.text, c.at, got, c.want)
		}
	}
}
