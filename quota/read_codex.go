package quota

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// codexRules are those of an OpenAI Codex subscription (openai/codex: codex-rs/codex-api rate_limits.rs, api_bridge.rs,
// sse/responses.rs; CLIProxyAPI's executor tests). usage_limit_reached comes under any status, in streams and in WebSocket
// frames, with the frame's headers inside the JSON.
var codexRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, scope: ScopeRequest, weight: decides, codes: "connector_rate_limit"}, // of the usage endpoint
		codeGroup{class: ServerError, scope: ScopeRequest, weight: decides, codes: "websocket_connection_limit_reached"},
		codeGroup{class: Billing, weight: decides, codes: "deactivated_workspace workspace_owner_credits_depleted workspace_member_credits_depleted"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "refresh_token_expired invalid_grant"},
		codeGroup{class: ServerError, weight: decides, codes: "billing_config_error"},
	),
	phrases: []phraseGroup{
		{class: Overloaded, scope: ScopeModel, phrases: []string{"selected model is at capacity"}},
		{class: QuotaExhausted, phrases: []string{"hit your usage limit", "usage limit has been reached", "usage limit reached"}},
	},
	windows:  map[string]string{"5h": "session"},
	windowID: codexWindow,
	header:   codexHeader,
	events:   codexEvents,
	usage:    codexUsage,
	judge:    judgeCodex,
	wait:     codexWait,
}

// Lengths of the two windows of a plan. They say which one it is: the position does not, for on the free plan the primary
// window is the weekly one (codex-proxy#65).
const (
	sessionMinutes = 300
	weeklyMinutes  = 10080
)

// codexHeader reads x-codex-{primary,secondary}-{used-percent,window-minutes,reset-at,reset-after-seconds}, and the same
// behind x-<limit id>- for the models that have limits of their own. The window is named by what is between "X-" and
// the field.
func codexHeader(key string) (string, windowField, bool) {
	rest, ok := strings.CutPrefix(key, "X-")
	if !ok {
		return "", 0, false
	}
	if name, ok := strings.CutSuffix(rest, "-Limit-Name"); ok {
		return name, fieldLabel, true
	}
	for _, part := range codexFields {
		if name, ok := strings.CutSuffix(rest, part.suffix); ok && (strings.HasSuffix(name, "-Primary") || strings.HasSuffix(name, "-Secondary")) {
			return name, part.field, true
		}
	}
	return "", 0, false
}

var codexFields = []struct {
	suffix string
	field  windowField
}{
	{"-Used-Percent", fieldUsed}, {"-Window-Minutes", fieldMinutes}, {"-Reset-At", fieldReset}, {"-Reset-After-Seconds", fieldAfter},
}

// codexWindow names a window by its length, and one of a limit by the model that the limit is for. A length of 0 is that of
// a window which the plan does not have.
func codexWindow(id []byte, w window, label string) []byte {
	limit, position, _ := cutLast(w.name, "-")
	minutes, stated := parseNumber(w.values[fieldMinutes])
	if stated && minutes == 0 {
		return id
	}
	if limit = limitID(limit); limit != "" && label != "" {
		limit = label
	}
	return appendCodexWindow(id, minutes, strings.EqualFold(position, "primary"), limit)
}

// appendCodexWindow appends "session", "weekly" or the length; a limit's own window adds the limit. Without a length the
// position has to do.
func appendCodexWindow(id []byte, minutes float64, primary bool, limit string) []byte {
	switch {
	case minutes == sessionMinutes || minutes == 0 && primary:
		id = append(id, "session"...)
	case minutes == weeklyMinutes || minutes == 0:
		id = append(id, "weekly"...)
	default:
		id = append(strconv.AppendInt(id, int64(minutes), 10), 'm')
	}
	if limit != "" {
		id = appendName(append(id, '.'), strings.TrimSpace(limit), '-')
	}
	return id
}

// limitID is a limit without the product's name, in any spelling: "Codex-Bengalfox", "codex_bengalfox" and "bengalfox" are
// one; the plan's own, "codex" or "premium", is "".
func limitID(s string) string {
	s = strings.TrimSpace(s)
	const product = "codex"
	if len(s) > len(product) && strings.EqualFold(s[:len(product)], product) && folds[s[len(product)]] == ' ' {
		s = s[len(product)+1:]
	}
	if strings.EqualFold(s, product) || strings.EqualFold(s, "premium") {
		return ""
	}
	return s
}

// slug is a name as it stands in ids: "GPT-5.3-Codex-Spark" is "gpt-5.3-codex-spark".
func slug(name string) string { return string(appendName(nil, strings.TrimSpace(name), '-')) }

// activeFamily is the limit that refused, where it is not the plan's: the model that it is for or, where that is not told,
// its own name.
func (a *answer) activeFamily() string {
	limit := limitID(a.Header.Get("X-Codex-Active-Limit"))
	if limit == "" {
		return ""
	}
	return cmp.Or(slug(a.Header.Get("X-Codex-"+limit+"-Limit-Name")), slug(a.Header.Get("X-"+limit+"-Limit-Name")), slug(limit))
}

// judgeCodex adds the family, and the two answers that are not about the account: the throttle of the usage endpoint, and a
// connection that has become too old, which is to be opened again at once.
func judgeCodex(a *answer, v verdict) verdict {
	switch {
	case a.hasCode("websocket_connection_limit_reached"):
		v.ownFault, v.again = true, true
	case a.hasCode("connector_rate_limit"):
		v.ownFault = true
	case v.class == QuotaExhausted:
		if family := a.activeFamily(); family != "" {
			v.scope, v.family = ScopeFamily, family
		} else if reached := a.Header.Get("X-Codex-Rate-Limit-Reached-Type"); strings.HasSuffix(reached, "credits_depleted") && !a.limitReset() {
			v.class, v.reason = Billing, "header:credits_depleted"
		}
	}
	return v
}

// limitReset reports whether the error says when the limit ends.
func (a *answer) limitReset() bool {
	_, ok := codexWait(a, verdict{class: QuotaExhausted})
	return ok
}

// codexWait: resets_at where it is ahead, else resets_in_seconds, else the latest reset of the full windows of the limit
// that refused. Times beside other errors are leftovers.
func codexWait(a *answer, v verdict) (statedWait, bool) {
	if v.class != QuotaExhausted {
		return statedWait{}, false
	}
	if w, ok := a.instantHint(nil); ok {
		return w, true
	}
	if w, ok := a.delayHint(hintResetDelay); ok {
		return w, true
	}
	if w, ok := a.headerWait(nil); ok {
		return w, true
	}
	family := a.activeFamily()
	var last statedWait
	for _, b := range a.buckets {
		_, of, _ := strings.Cut(strings.TrimPrefix(b.ID, a.dialect.bucketPrefix()+"."), ".")
		if of != family || !b.isSpent() {
			continue
		}
		if w, ok := a.untilWait(b.ResetAt, !b.ResetAt.IsZero()); ok && w.after > last.after {
			last = w
		}
	}
	return last, last.after > 0
}

// codexUsage reads GET /backend-api/wham/usage and, where a stream or a frame begins with it, the event codex.rate_limits.
func codexUsage(a *answer, v gjson.Result) []Bucket {
	if buckets := codexEvent(a, v); buckets != nil {
		return buckets
	}
	var buckets []Bucket
	buckets = append(buckets, a.codexWindows(v.Get("rate_limit"), "")...)
	for _, extra := range v.Get("additional_rate_limits").Array() {
		limit := cmp.Or(extra.Get("limit_name").Str, limitID(extra.Get("metered_feature").Str))
		buckets = append(buckets, a.codexWindows(extra.Get("rate_limit"), limit)...)
	}
	buckets = append(buckets, a.codexWindows(v.Get("code_review_rate_limit"), "code_review")...)
	if buckets == nil && v.Get("plan_type").Exists() {
		return []Bucket{}
	}
	return byID(buckets)
}

// codexWindows reads {primary_window, secondary_window} of one limit.
func (a *answer) codexWindows(v gjson.Result, limit string) []Bucket {
	var buckets []Bucket
	for _, position := range []string{"primary", "secondary"} {
		w := v.Get(position + "_window")
		if !w.IsObject() {
			w = v.Get(position)
		}
		used := numberOf(w.Get("used_percent"))
		if !used.Known {
			continue
		}
		minutes := numberOf(w.Get("limit_window_seconds")).Value / 60
		if minutes == 0 {
			minutes = numberOf(w.Get("window_minutes")).Value
		}
		id := appendCodexWindow([]byte(a.dialect.bucketPrefix()+"."), minutes, position == "primary", limit)
		b := resetBucket(string(id), used.Value, w.Get("reset_at"))
		if after := numberOf(w.Get("reset_after_seconds")); b.ResetAt.IsZero() && after.Known && after.Value > 0 {
			b.ResetAt, _ = parseReset(w.Get("reset_after_seconds").String(), a.At, nil)
		}
		buckets = append(buckets, b)
	}
	return buckets
}

// codexEvent reads {"type":"codex.rate_limits","rate_limits":{primary, secondary}}.
func codexEvent(a *answer, v gjson.Result) []Bucket {
	if v.Get("type").Str != "codex.rate_limits" {
		return nil
	}
	limit := limitID(cmp.Or(v.Get("metered_limit_name").Str, v.Get("limit_id").Str))
	return byID(a.codexWindows(v.Get("rate_limits"), limit))
}

// codexEvents finds the event in a stream.
func codexEvents(a *answer) []Bucket {
	for line := range bytes.Lines(a.Body) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && bytes.Contains(data, []byte("codex.rate_limits")) {
			if buckets := codexEvent(a, gjson.ParseBytes(bytes.TrimSpace(data))); buckets != nil {
				return buckets
			}
		}
	}
	return nil
}
