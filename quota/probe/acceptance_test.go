package probe

import (
	"net/http"
	"strings"
	"testing"
)

// TestQ15ThreeOfFourPools (Q15, Q16): a summary of all four pools is the truth, in order; one that lacks a pool is not, and
// the capacity of the models stands in for it, each family's least with that one's reset.
func TestQ15ThreeOfFourPools(t *testing.T) {
	const (
		gemini  = `{"displayName":"Gemini","buckets":[{"bucketId":"gemini-weekly","remainingFraction":0.2,"resetTime":"2026-07-30T00:00:00Z"},{"bucketId":"gemini-5h","remainingFraction":1}]}`
		thirdOf = `{"displayName":"Third party","buckets":[{"bucketId":"3p-5h","remainingFraction":0.5}`
		models  = `{"models":{"gemini-3-pro":{"quotaInfo":{"remainingFraction":0.9,"resetTime":"2026-07-25T15:00:00Z"}},
			"gemini-3-flash":{"quotaInfo":{"remainingFraction":0.4,"resetTime":"2026-07-25T16:00:00Z"}},"claude-opus":{"quotaInfo":{"resetTime":"2026-07-26T00:00:00Z"}}}}`
	)
	for name, c := range map[string]struct{ third, want string }{
		"four": {thirdOf + `,{"bucketId":"3p-weekly","remainingFraction":0.8}]}`, `measured
  antigravity.claude.5h ?/? 50%
  antigravity.gemini.5h ?/? 100%
  antigravity.claude.7d ?/? 80%
  antigravity.gemini.7d ?/? 20% @2026-07-30T00:00:00
  models: gemini-3-pro gemini-3-flash claude-opus
  project: p1`},
		"three": {thirdOf + `]}`, `measured
  antigravity.claude.model_pool ?/? 0% @2026-07-26T00:00:00
  antigravity.gemini.model_pool ?/? 40% @2026-07-25T16:00:00
  models: gemini-3-pro gemini-3-flash claude-opus
  project: p1`},
	} {
		p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, ":retrieveUserQuotaSummary"):
				return answer(200, `{"groups":[`+gemini+`,`+c.third+`]}`), nil
			case strings.HasSuffix(r.URL.Path, ":fetchAvailableModels"):
				return answer(200, models), nil
			}
			return answer(404, `{}`), nil
		}), oauth, nil, Target{Profile: "a", Provider: "antigravity", Project: "p1"})
		if got := tell(refresh(t, p, "a", false)); got != c.want {
			t.Errorf("%s pools: %s\nwant %s", name, got, c.want)
		}
	}
}
