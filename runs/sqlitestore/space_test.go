package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
)

func spaceText(t testing.TB, s *sqlitestore.Space) string {
	t.Helper()
	items, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, i := range items {
		words = append(words, i.Key+"="+string(i.Value))
	}
	return strings.Join(words, " ")
}

func TestSpace(t *testing.T) {
	file, ctx := fresh(t), t.Context()
	d := db(t, file)
	s, other := d.Space("rollups"), d.Space("router")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(other.Save(ctx, "2", []byte("theirs")))
	must(s.SaveAll(ctx, map[string][]byte{"3": []byte("c"), "1": []byte("a"), "2": []byte("b"), "10": nil}))
	must(s.Save(ctx, "2", []byte("B")))
	if got, want := spaceText(t, s), "1=a 10= 2=B 3=c"; got != want {
		t.Errorf("after saving: %q, want %q", got, want)
	}
	must(s.Drop(ctx, "10"))
	must(s.Drop(ctx, "nothing"))
	must(s.DropBelow(ctx, "2"))
	must(d.Close())

	d = db(t, file)
	s, other = d.Space("rollups"), d.Space("router")
	if got, want := spaceText(t, s)+" "+spaceText(t, other), "2=B 3=c 2=theirs"; got != want {
		t.Errorf("after dropping and reopening: %q, want %q", got, want)
	}
	if v, ok, err := s.Load(ctx, "2"); string(v) != "B" || !ok || err != nil {
		t.Errorf("load: %q, %v, %v", v, ok, err)
	}
	if v, ok, err := s.Load(ctx, "1"); v != nil || ok || err != nil {
		t.Errorf("load of nothing: %q, %v, %v", v, ok, err)
	}
	must(s.Save(ctx, "empty", nil))
	if v, ok, err := s.Load(ctx, "empty"); len(v) != 0 || !ok || err != nil {
		t.Errorf("load of an empty value: %q, %v, %v", v, ok, err)
	}
}

func TestSpaceKeys(t *testing.T) {
	s, ctx := db(t, fresh(t)).Space("k"), t.Context()
	for _, key := range []string{"", "'; DROP TABLE state; --", "a\x00b", "a", "\xff\xfe", "日本", strings.Repeat("k", 1<<16)} {
		if err := s.Save(ctx, key, []byte(key)); err != nil {
			t.Fatalf("save %.20q: %v", key, err)
		}
		if v, ok, err := s.Load(ctx, key); string(v) != key || !ok || err != nil {
			t.Errorf("load %.20q: %.20q, %v, %v", key, v, ok, err)
		}
	}
	if items, err := s.All(ctx); len(items) != 7 || err != nil {
		t.Errorf("%d items, %v", len(items), err)
	}
}

// Everybody shares the transactions, and nobody loses anything.
func TestSpaceAmongAppends(t *testing.T) {
	d := db(t, fresh(t))
	space, rs := d.Space("k"), d.Runs()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if err := space.Save(t.Context(), fmt.Sprintf("%02d", i), nil); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if a, err := rs.Append(t.Context(), []runs.Batch{once(fmt.Sprint("r", i))}); err != nil || a[0].Err() != nil {
				t.Error(a, err)
			}
		})
	}
	wg.Wait()
	items, err := space.All(t.Context())
	heads, err2 := rs.List(t.Context(), runs.Filter{})
	if len(items) != 50 || len(heads) != 50 || err != nil || err2 != nil {
		t.Errorf("%d values, %d runs, %v, %v", len(items), len(heads), err, err2)
	}
}

func TestSpaceCancelled(t *testing.T) {
	s := db(t, fresh(t)).Space("k")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Save(ctx, "k", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("save: %v", err)
	}
	if _, err := s.All(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("all: %v", err)
	}
}
