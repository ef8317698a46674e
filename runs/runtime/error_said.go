package runtime

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// errorSaid is what an error body says: its code, and its message in one bounded line.
func errorSaid(body []byte) (code, message string) {
	e := gjson.GetBytes(body, "error")
	code, message = e.Get("code").Str, e.Get("message").Str
	if e.Type == gjson.String {
		message = e.Str
	}
	if strings.ContainsFunc(code, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) || len(code) > 64 {
		code = ""
	}
	message = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(message, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(message); len(runes) > 300 {
		message = string(runes[:300]) + "…"
	}
	return code, message
}
