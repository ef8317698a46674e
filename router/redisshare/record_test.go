package redisshare

import (
	"fmt"
	"testing"
	"time"

	"hermes-hub/quota"
)

// What Redis has of a block is what was written, or it is nothing.
func TestRecord(t *testing.T) {
	b := quota.Block{
		State: quota.StateQuota, Class: quota.QuotaExhausted, Scope: quota.ScopeFamily, Key: "family:gpt", Bucket: "p.5h",
		Stated: true, Failures: 3, Source: quota.SourceRuntimeEvent, Reason: `code:"x":1`,
	}
	r, ok := readRecord(b.Cause(), "200:100:50:"+string(written(b)))
	if !ok || r.block != b || r.until != 200 || r.since != 100 || r.cleared != 50 {
		t.Errorf("read back: %+v, %v", r, ok)
	}
	other := b
	other.State = quota.StateNoModel
	for _, bad := range [][2]string{
		{"other||", "200:100:50:" + string(written(b))},
		{other.Cause(), "200:100:50:" + string(written(other))},
		{b.Cause(), "200:100:" + string(written(b))},
		{b.Cause(), "200:-1:50:" + string(written(b))},
		{b.Cause(), "1e3:100:50:" + string(written(b))},
		{b.Cause(), "200:100:50:{"},
		{b.Cause(), ""},
		{"||", "200:100:50:{}"},
	} {
		if r, ok := readRecord(bad[0], bad[1]); ok {
			t.Errorf("%s = %s was read as %+v", bad[0], bad[1], r)
		}
	}
}

// When a record stands, in ms of Redis's clock.
func TestRecordStands(t *testing.T) {
	f := func(until, since, cleared, now int64, want bool) {
		t.Helper()
		r := record{until: until, since: since, cleared: cleared}
		if got := r.stands(now); got != want {
			t.Errorf("until %d, since %d, cleared %d: at %d %v, want %v", until, since, cleared, now, got, want)
		}
	}
	const day = 24 * 3600 * 1000
	f(200, 100, 0, 150, true)
	f(200, 100, 0, 200, false)
	f(200, 100, 100, 150, false)
	f(200, 100, 99, 150, true)
	f(forever, 100, 0, 150, true)
	f(400*day+150, 100, 0, 150, true)
	f(400*day+151, 100, 0, 150, false)
}

// What is asked of Redis is answered between sending and receiving; what was seen is put at the latest that it can have been.
func TestInstant(t *testing.T) {
	sent := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	i := instant{sent: sent, received: sent.Add(20 * time.Millisecond), redis: 1000}
	for _, c := range []struct {
		ms         int64
		at, latest string
	}{
		{1000, "12:00:00.010", "12:00:00.022"},
		{3500, "12:00:02.510", "12:00:02.522"},
		{0, "11:59:59.010", "11:59:59.022"},
	} {
		if at, latest := i.at(c.ms).Format("15:04:05.000"), i.atLatest(c.ms).Format("15:04:05.000"); at != c.at || latest != c.latest {
			t.Errorf("%d: %s, %s, want %s, %s", c.ms, at, latest, c.at, c.latest)
		}
	}
}

// FuzzRecord: whatever stands in Redis is read without harm, and what is read is written back as the same.
func FuzzRecord(f *testing.F) {
	f.Add("quota_exhausted||", `200:100:50:{"state":"quota_exhausted"}`)
	f.Add("auth_required||", `90000000000000:1:0:{"state":"auth_required","failures":1}`)
	f.Add("", "::")
	f.Fuzz(func(t *testing.T, cause, value string) {
		r, ok := readRecord(cause, value)
		if !ok {
			return
		}
		again, ok := readRecord(cause, fmt.Sprintf("%d:%d:%d:%s", r.until, r.since, r.cleared, written(r.block)))
		if !ok || again != r {
			t.Errorf("%+v became %+v, %v", r, again, ok)
		}
	})
}
