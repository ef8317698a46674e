package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/router"
)

// held are n leases, the oldest first; pairs begin at the same moment.
func held(n int) []router.LeaseInfo {
	session := "s-1"
	var all []router.LeaseInfo
	for i := range n {
		all = append(all, router.LeaseInfo{
			ProfileID: "a", LeaseID: fmt.Sprintf("lease_x_%03d", i), Session: &session, Role: "main",
			StartedAt: testNow.Add(time.Duration(i/2) * time.Second), Instance: "x",
		})
	}
	return all
}

// L07: the lease table, in the contract's shape.
func TestLeases(t *testing.T) {
	var leases []router.LeaseInfo
	p := newPlane(t, func(o *Options) { o.Leases = func() []router.LeaseInfo { return leases } })
	viewer := "Authorization: Bearer " + mint(t, ScopeViewer)
	f := func(target, want string) {
		t.Helper()
		if got := answer(p.do("GET", target, "", viewer)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", target, got, want)
		}
	}
	const empty = `200 {"data":[],"next_cursor":null}`
	f("/admin/v1/leases", empty)
	leases = held(1)
	const one = `200 {"data":[{"profile_id":"a","lease_id":"lease_x_000","run_id":null,"session":"s-1","role":"main","started_at":"2026-03-04T05:06:07Z","instance":"x"}],"next_cursor":null}`
	f("/admin/v1/leases", strings.Replace(one, "2026-03-04T05:06:07Z", testNow.UTC().Format(time.RFC3339Nano), 1))
	leases = nil
	f("/admin/v1/leases", empty)

	bad := func(query, want string) {
		t.Helper()
		f("/admin/v1/leases?"+query, "400 invalid-request: "+want)
	}
	bad("limit=501", `limit is "501"; want a whole number from 1 to 500`)
	bad("limit=0", `limit is "0"; want a whole number from 1 to 500`)
	bad("limit=ten", `limit is "ten"; want a whole number from 1 to 500`)
	bad("limit="+strings.Repeat("9", 100), `limit is "`+strings.Repeat("9", 40)+`…"; want a whole number from 1 to 500`)
	for _, cursor := range []string{"lease_x_000", "%00", "MTIz", "eCB5", url.QueryEscape("../..")} {
		bad("cursor="+cursor, "cursor is none that this list gave out as next_cursor")
	}
	if w := p.do("GET", "/admin/v1/leases", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", w.Code)
	}
}

// Page by page every lease comes once, newest first, although those that were read are given back meanwhile, which is
// what leases do.
func TestLeasesByPages(t *testing.T) {
	leases := held(25)
	p := newPlane(t, func(o *Options) { o.Leases = func() []router.LeaseInfo { return slices.Clone(leases) } })
	var ids []string
	cursor := ""
	for pages := 1; ; pages++ {
		w := p.do("GET", "/admin/v1/leases?limit=10&cursor="+cursor, "", "Authorization: Bearer "+mint(t, ScopeViewer))
		var got page[router.LeaseInfo]
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, l := range got.Data {
			ids = append(ids, l.LeaseID)
		}
		leases = slices.DeleteFunc(leases, func(l router.LeaseInfo) bool { return slices.Contains(ids, l.LeaseID) })
		if got.NextCursor == nil {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		cursor = *got.NextCursor
	}
	want := held(25)
	slices.Reverse(want)
	if len(ids) != len(want) {
		t.Fatalf("%d leases: %v", len(ids), ids)
	}
	for i, l := range want {
		if ids[i] != l.LeaseID {
			t.Errorf("%d: %s, want %s", i, ids[i], l.LeaseID)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(position{testNow, "lease_x_1"}.cursor())
	f.Add("MTIz")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, ok := readCursor(cursor)
		if !ok {
			return
		}
		if again, ok := readCursor(p.cursor()); !ok || again.id != p.id || !again.at.Equal(p.at) {
			t.Errorf("%q is %v, and again %v", cursor, p, again)
		}
	})
}
