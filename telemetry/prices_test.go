package telemetry

import (
	"fmt"
	"strings"
	"testing"
)

func TestCost(t *testing.T) {
	prices := NewPrices([]Price{
		{Model: "gpt-4o", Input: new(2.5), Output: new(10.0)},
		{Model: "gpt-4o-mini", Input: new(0.15), Output: new(0.6)},
		{Model: "gpt-5", Input: new(1.0), Output: new(1.0)},
		{Model: "gpt-5.5", Input: new(1.25), Output: new(10.0), CachedInput: new(0.125)},
		{Model: "claude-opus-4", Input: new(15.0), Output: new(75.0)},
		{Model: "embed", Input: new(0.02)},
		{Model: "local/free", Input: new(0.0), Output: new(0.0)},
		{Model: "nothing"},
	})
	million := Usage{Input: 1e6, Output: 125e3, Known: true}
	f := func(model string, u Usage, want string) {
		t.Helper()
		got := "unknown"
		if usd, known := prices.Cost(model, u); known {
			got = fmt.Sprint(usd)
		}
		if got != want {
			t.Errorf("%s, %+v: got %s, want %s", model, u, got, want)
		}
	}
	// T05: 1M in and 125k out at 2.5 and 10; no pricing or no usage is null.
	f("gpt-4o", million, "3.75")
	f("gpt-4o", Usage{}, "unknown")
	f("mistral-large", million, "unknown")
	f("", million, "unknown")
	// T06: the Python hub billed gpt-4o-mini as gpt-4o.
	f("gpt-4o-mini", million, "0.225")
	f("gpt-4o-mini-2024-07-18", million, "0.225")
	f("gpt-4o-2024-08-06", million, "3.75")
	f("gpt-4o-1120", million, "3.75")
	f("gpt-4o:extended", million, "3.75")
	f("gpt-4oz", million, "unknown")
	f("gpt-4", million, "unknown")
	// A version number goes on: another model.
	f("gpt-5.5", million, "2.5")
	f("gpt-5.1", million, "unknown")
	f("gpt-51", million, "unknown")
	f("gpt-5-2025-08-07", million, "1.125")
	f("claude-opus-4-5", million, "unknown")
	f("claude-opus-4-5-20251101", million, "unknown")
	f("claude-opus-4-20250514", million, "24.375")
	f("claude-opus-4@20250514", million, "24.375")
	// T07: zero tokens are a number.
	f("gpt-4o", Usage{Input: 1e6, Known: true}, "2.5")
	f("gpt-4o", Usage{Known: true}, "0")
	// Cached input has its own rate where it is given.
	f("gpt-5.5", Usage{Input: 1e6, CacheRead: 800e3, CacheWrite: 100e3, Known: true}, "0.35")
	f("gpt-4o", Usage{Input: 1e6, CacheRead: 800e3, Known: true}, "2.5")
	f("gpt-5.5", Usage{Input: 1e6, CacheRead: 5e6, Known: true}, "0.125")
	// A rate that is not declared is unknown; declared as 0 it is free.
	f("embed", Usage{Input: 1e6, Known: true}, "0.02")
	f("embed", million, "unknown")
	f("nothing", million, "unknown")
	f("local/free", million, "0")
}

// A client may name a model a megabyte long; finding its price must not cost the square of that.
func TestCostOfAnAbsurdName(t *testing.T) {
	prices := NewPrices([]Price{{Model: "m", Input: new(1.0), Output: new(1.0)}})
	if usd, known := prices.Cost("m"+strings.Repeat("-x", 1<<20), Usage{Input: 1e6, Known: true}); !known || usd != 1 {
		t.Errorf("got %v, %v, want 1, true", usd, known)
	}
}

func TestCharge(t *testing.T) {
	x := failedOver()
	NewPrices([]Price{{Model: "claude-opus-4-5", Input: new(5.0), Output: new(25.0), CachedInput: new(0.5)}}).Charge(x)
	if got := fmt.Sprint(x.Attempts[0].Cost, x.Attempts[1].Cost); got != "{0 false} {0.00265 true}" {
		t.Errorf("got %s", got)
	}
	var none *Prices
	none.Charge(x)
	if x.Attempts[1].Cost.Known {
		t.Error("a cost without prices")
	}
}

func FuzzCost(f *testing.F) {
	prices := NewPrices([]Price{{Model: "a-1", Input: new(1.0), Output: new(2.0)}, {Model: "a", Input: new(3.0), Output: new(4.0)}})
	f.Add("a-1-2", int64(5), int64(-6), int64(7))
	f.Fuzz(func(t *testing.T, model string, in, out, cached int64) {
		if usd, _ := prices.Cost(model, Usage{Input: in, Output: out, CacheRead: cached, Known: true}); usd < 0 {
			t.Errorf("negative cost %v", usd)
		}
	})
}
