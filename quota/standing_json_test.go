package quota

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStandingSurvivesARestart: what is saved comes back; what expired meanwhile does not.
func TestStandingSurvivesARestart(t *testing.T) {
	y := &story{t: t}
	y.hear(AuthExpired, ScopeAccount, callFrom("gpt-5", 0, 1), time.Time{})
	y.hear(RateLimited, ScopeModel, callFrom("gpt-5", 0, 2), after(60))
	y.hear(ServerError, ScopeModel, callFrom("gpt-5", 0, 2), time.Time{})
	y.hear(QuotaExhausted, ScopeFamily, callFrom("gpt-5", 0, 3), after(6000))
	y.s = y.s.Apply(ReadHeaders("openai", rateHeaders(), after(4)), callFrom("gpt-5", 0, 4), testPolicy)

	data, err := json.Marshal(y.s)
	if err != nil {
		t.Fatal(err)
	}
	var loaded Standing
	if err := json.Unmarshal(data, &loaded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(y.s, loaded, cmp.AllowUnexported(Standing{}, pool{})); diff != "" {
		t.Errorf("saved and loaded (-saved +loaded):\n%s", diff)
	}
	late := loaded.Restore(after(1000))
	var got []string
	for _, b := range late.Blocks(time.Time{}) {
		got = append(got, b.Key+" "+string(b.State))
	}
	// The cool-down is over; its count of failures is what the next one doubles from.
	want := []string{" auth_required", "family:gpt quota_exhausted", "model:gpt-5 cooldown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks after the restart (-want +got):\n%s", diff)
	}
	if b := late.Buckets(); len(b) != 0 {
		t.Errorf("buckets that were reset meanwhile: %+v", b)
	}
	if b := loaded.Restore(after(4)).Buckets(); len(b) != 2 || !b[0].SeenAt.Equal(after(4)) || b[0].Source != SourceProviderAPI {
		t.Errorf("buckets %+v, want both of the headers", b)
	}
}

// TestLoadStanding: an empty account, fields and states of another version, and what is no Standing.
func TestLoadStanding(t *testing.T) {
	for data, want := range map[string]string{
		`{"version":1}`: "",
		`{}`:            "",
		`{"version":1,"new_field":7,"blocks":[{"state":"quota_exhausted","class":"quota_exhausted","scope":"account","since":"2026-07-25T12:00:00Z","until":"2026-07-25T13:00:00Z","x":1}]}`: "quota_exhausted",
		`{"version":1,"blocks":[{"state":"on_holiday","since":"2026-07-25T12:00:00Z"}]}`:                                                                                                     "",
		`{"version":1,"blocks":[{"state":"rate_limited","since":"2026-07-25T12:00:00Z","until":"2099-01-01T00:00:00Z"}]}`:                                                                    "", // cannot be true
		`{"version":2}`: "load standing: version 2 is newer than 1",
		`[]`:            "load standing: json",
	} {
		var s Standing
		got := ""
		if err := json.Unmarshal([]byte(data), &s); err != nil {
			got = err.Error()
		} else {
			got = string(s.Restore(noon).Account(noon).State)
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
	data, err := json.Marshal(Standing{})
	if err != nil || string(data) != `{"version":1}` {
		t.Errorf("the empty Standing is saved as %s (%v)", data, err)
	}
}

// TestClockSetBack: a block from what is now the future must not outlast every success.
func TestClockSetBack(t *testing.T) {
	y := &story{t: t}
	y.hear(AuthInvalid, ScopeAccount, callFrom("m", 9000, 9000), time.Time{})
	y.s = y.s.Restore(noon)
	y.hear(OK, ScopeRequest, callFrom("m", 1, 2), time.Time{})
	y.expect("m", 3, Ready, time.Time{})
}
