package probe

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	modelLimit = 2000 // models of one account
	nameLimit  = 128  // bytes of a name that an upstream gave
)

// readModels reads a list of models.
func readModels(l *look, r reply) string {
	if l.models = modelIDs(r.body, nil); l.models == nil {
		return notUnderstood
	}
	return ""
}

// modelIDs are the models of a list, in its order: {data:[{id}]} (OpenAI), {models:[{slug|name|id}]} (Codex, Gemini,
// Cohere), [{id}] (Together), {models:{<id>:…}} (Cloud Code). nil = it is no list; skip names those to leave out.
func modelIDs(body []byte, skip func(id string) bool) []string {
	v := gjson.ParseBytes(body)
	switch list := v.Get("data"); {
	case v.IsArray():
	case list.IsArray():
		v = list
	default:
		v = v.Get("models")
	}
	if !v.IsArray() && !v.IsObject() {
		return nil
	}
	ids, seen := []string{}, map[string]bool{}
	v.ForEach(func(key, m gjson.Result) bool {
		id := key.Str // of an object; an array has none
		for _, name := range []string{"id", "slug", "name"} {
			if v.IsArray() && id == "" {
				id = m.Get(name).Str
			}
		}
		if v.IsArray() && m.Type == gjson.String {
			id = m.Str
		}
		id = short(strings.TrimPrefix(id, "models/"))
		if id != "" && !seen[id] && (skip == nil || !skip(id)) {
			seen[id] = true
			ids = append(ids, id)
		}
		return len(ids) < modelLimit
	})
	return ids
}

// short is a name that an upstream gave, "" where it is longer than names are or holds what no name does.
func short(name string) string {
	if len(name) > nameLimit || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}
