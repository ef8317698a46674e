package probe

import (
	"fmt"
	"strings"
	"testing"
)

// TestModelIDs: lists of models as providers write them.
func TestModelIDs(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		ids := modelIDs([]byte(body), internalModel)
		got := strings.Join(ids, " ")
		if ids == nil {
			got = "no list"
		}
		if got != want {
			t.Errorf("%.200s has %q, want %q", body, got, want)
		}
	}
	f(`{"data":[{"id":"a"},{"id":"b"},{"id":"a"}]}`, "a b")
	f(`{"data":[]}`, "")
	f(`{"models":[{"slug":"a"},{"name":"models/b"},{"id":"c","name":"d"}]}`, "a b c")
	f(`{"models":{"a":{},"tab_x":{},"chat_1":{},"b":{}}}`, "a b")
	f(`[{"id":"a"},"b",3,null]`, "a b")
	f(`{"data":{"id":"a"},"models":["b"]}`, "b")
	f(`{"data":[{"id":"x\u0000y"},{"id":"`+strings.Repeat("x", 200)+`"},{"id":7},{"id":"ok"}]}`, "ok")
	f(`{"error":"x"}`, "no list")
	f(`"text"`, "no list")
	f(``, "no list")
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `{"id":"m%d"},`, i)
	}
	if ids := modelIDs([]byte(`{"data":[`+many.String()+`{}]}`), nil); len(ids) != modelLimit {
		t.Errorf("%d models", len(ids))
	}
}

// TestManyModels: Cloud Code's list with all that it says of each model is longer than what quota.Read looks at; the pools
// must be right all the same.
func TestManyModels(t *testing.T) {
	var list strings.Builder
	for i := range 40 {
		fmt.Fprintf(&list, `"gemini-%d":{"description":%q,"quotaInfo":{"remainingFraction":0.9}},`, i, strings.Repeat("x", 4000))
	}
	body := `{"models":{` + list.String() + `"claude-x":{"quotaInfo":{"remainingFraction":0.2}}}}`
	l := &look{row: rowOf(Target{Provider: "antigravity"})}
	if trouble := readPools(l, reply{dialect: l.dialect(), status: 200, body: []byte(body), at: noon}); trouble != "" {
		t.Fatal(trouble)
	}
	var got []string
	for _, b := range l.readings[0].Buckets {
		got = append(got, tellBucket(b))
	}
	if text := strings.Join(got, "; "); text != "antigravity.claude.model_pool ?/? 20%; antigravity.gemini.model_pool ?/? 90%" || len(l.models) != 41 {
		t.Errorf("%s of %d models", text, len(l.models))
	}
}

// FuzzReply: no answer of a provider breaks a look, and what it brings is bounded.
func FuzzReply(f *testing.F) {
	for _, body := range []string{
		openCodeModels, openCodeUsage, "", "{", "[]", "null", `{"groups":[{"buckets":[{"window":"5h"}]}]}`, `{"models":{"a":{"quotaInfo":{}}}}`,
		`{"error":{"code":429}}`, `{"data":{"limits":[{"percentage":-1}]}}`, "\x1f\x8b", "<html>", `{"five_hour":{"utilization":1e300}}`,
	} {
		for _, status := range []uint16{200, 401, 403, 429, 500} {
			f.Add(status, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		for _, r := range append(table, lists) {
			for _, s := range r.steps {
				l := &look{row: r}
				answer := reply{dialect: l.dialect(), status: int(status), body: body, at: noon}
				outcome, _, _ := judge(answer, r.plans)
				if outcome == Measured && s.read(l, answer) == "" {
					l.takePlan(s, answer)
				}
				if outcome == "" || len(l.models) > modelLimit || len(l.plan) > nameLimit || len(l.project) > nameLimit || len(l.readings) > 1 {
					t.Errorf("%s %s: %q, %d models, plan %q, project %q", r.names, s.name, outcome, len(l.models), l.plan, l.project)
				}
				for _, reading := range l.readings {
					if len(reading.Buckets) == 0 || len(reading.Buckets) > 64 {
						t.Errorf("%s %s: %d buckets", r.names, s.name, len(reading.Buckets))
					}
				}
			}
		}
	})
}
