package runs

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Content is how much of a run is kept.
type Content string

// What is kept.
const (
	Redacted Content = "redacted" // everything that is no secret
	Metadata Content = "metadata" // what happened, when and how long it took; no text of people, models or tools
	NoStore  Content = "off"      // nothing: the run has no rows
)

// cutMark ends a string that was cut, and truncatedMark is the member that says so of a payload.
const (
	cutMark       = "...[truncated]"
	truncatedMark = "truncated"
)

// bare keeps of a payload what tells no content. Deltas have nothing left and are no rows at all.
func (d draft) bare() (draft, bool) {
	f := families[d.kind]
	if d.kind == TypeTokenDelta || d.kind == TypeReasoningDelta {
		return d, false
	}
	kept := json.RawMessage("{}")
	for _, name := range f.kept {
		if v := gjson.GetBytes(d.payload, name); v.Exists() {
			kept, _ = sjson.SetRawBytes(kept, name, []byte(v.Raw)) // fails for empty names only
		}
	}
	d.payload = kept
	return d, true
}

// bounded cuts a payload to about limit bytes: first its longest strings, and if it has too many members for that, all but
// the family's own short ones. It stays a JSON object of the same family, and says that it was cut.
func (d draft) bounded(limit int) draft {
	if limit <= 0 || len(d.payload) <= limit {
		return d
	}
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(d.payload))
	dec.UseNumber()
	if err := dec.Decode(&object); err == nil {
		object[truncatedMark] = true
		for longest := limit / 2; longest >= 64; longest /= 4 {
			body, err := json.Marshal(cut(object, longest))
			if err == nil && len(body) <= limit {
				d.payload = body
				return d
			}
		}
	}
	small := json.RawMessage(`{"` + truncatedMark + `":true}`)
	names := slices.Clone(families[d.kind].kept)
	for _, m := range families[d.kind].members {
		names = append(names, m.ours)
	}
	for _, name := range names {
		if v := gjson.GetBytes(d.payload, name); v.Exists() && len(v.Raw) <= 256 && len(small)+len(v.Raw) < limit {
			small, _ = sjson.SetRawBytes(small, name, []byte(v.Raw)) // fails for empty names only
		}
	}
	d.payload = small
	return d
}

// cut shortens every string in a decoded JSON value to so many bytes, at the boundary of a rune.
func cut(v any, longest int) any {
	switch v := v.(type) {
	case string:
		if len(v) <= longest {
			return v
		}
		end := longest
		for end > 0 && !utf8.RuneStart(v[end]) {
			end--
		}
		return v[:end] + cutMark
	case []any:
		short := make([]any, len(v))
		for i := range v {
			short[i] = cut(v[i], longest)
		}
		return short
	case map[string]any:
		short := make(map[string]any, len(v))
		for name := range v {
			short[name] = cut(v[name], longest)
		}
		return short
	default:
		return v
	}
}

// mostMerged is how long a delta may become by merging: what an observer gets at once, and what is copied for each merge.
const mostMerged = 16 << 10

// merged is two deltas of one message as one: of the same family, with the same members besides delta. A runtime's own
// timestamp of each is no difference; that of the first is kept, as is its row's time.
func merged(a, b draft) (draft, bool) {
	if a.kind != b.kind || a.kind != TypeTokenDelta && a.kind != TypeReasoningDelta || len(a.payload)+len(b.payload) > mostMerged {
		return draft{}, false
	}
	first, second := gjson.GetBytes(a.payload, "delta"), gjson.GetBytes(b.payload, "delta")
	if first.Type != gjson.String || second.Type != gjson.String || !alike(a.payload, b.payload) {
		return draft{}, false
	}
	payload, err := sjson.SetBytes(a.payload, "delta", first.Str+second.Str)
	return draft{kind: a.kind, payload: payload, at: a.at}, err == nil
}

// alike reports whether two payloads differ in delta and timestamp only.
func alike(a, b []byte) bool {
	for _, name := range []string{"delta", "timestamp"} {
		a, _ = sjson.DeleteBytes(a, name) // fails for empty names only
		b, _ = sjson.DeleteBytes(b, name)
	}
	return bytes.Equal(a, b)
}
