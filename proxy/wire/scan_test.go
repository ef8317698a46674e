package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestObjectAcceptsWhatJSONAccepts(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		var got []string
		m := Object([]byte(text))
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			got = append(got, string(name)+"="+string(value.In([]byte(text))))
		}
		line := strings.Join(got, " ")
		if err := m.Err(); err != nil {
			line = err.Error()
		}
		if line != want {
			t.Errorf("Object(%q)\n got %s\nwant %s", text, line, want)
		}
	}
	f(`{}`, ``)
	f(` { "a" : 1 , "b" : [1, {"c":[]}, "x\"y"] } `, `a=1 b=[1, {"c":[]}, "x\"y"]`)
	f(`{"mo\u0064el":"x"}`, `model="x"`)
	f(`{"n":-0.5e+10,"t":true,"f":false,"z":null,"e":{}}`, `n=-0.5e+10 t=true f=false z=null e={}`)
	f(`{"a":"тест 🙂"}`, `a="тест 🙂"`)
	f(``, `invalid JSON at byte 0: expected an object`)
	f(`[1]`, `invalid JSON at byte 0: expected an object`)
	f(`{"a":1,}`, `invalid JSON at byte 7: expected a string`)
	f(`{"a":1 "b":2}`, `invalid JSON at byte 7: expected a comma or a closing bracket`)
	f(`{"a":01}`, `invalid JSON at byte 6: expected a comma or a closing bracket`)
	f(`{"a":NaN}`, `invalid JSON at byte 5: expected a value`)
	f(`{"a":1.}`, `invalid JSON at byte 7: expected a digit`)
	f(`{"a":"x`, `invalid JSON at byte 7: unfinished string`)
	f(`{"a":"`+"\n"+`"}`, `invalid JSON at byte 6: control character in a string`)
	f(`{"a":"\x"}`, `invalid JSON at byte 6: invalid escape`)
	f(`{"a":"\u12g4"}`, `invalid JSON at byte 6: invalid \u escape`)
	f(`{"a":[1,2}`, `invalid JSON at byte 9: expected a comma or a closing bracket`)
	f(`{"a":1} x`, `invalid JSON at byte 8: text after the end of the document`)
	f(`{"a":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`, `invalid JSON at byte 517: nested too deeply`)
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"model":"m","messages":[]}`, `{"a":{"b":[1,2,{"c":"\ud83d\ude00"}]}}`, `{"a":1e5,"a":-2}`, "{\"a\":\"\x00\"}", `{"a":tru}`, `{"":""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			return // refused before the walk
		}
		m := Object(data)
		var names int
		for _, value, ok := m.Next(); ok; _, value, ok = m.Next() {
			names++
			if !json.Valid(value.In(data)) {
				t.Fatalf("value %q is not JSON", value.In(data))
			}
		}
		var into map[string]json.RawMessage
		std := json.Unmarshal(data, &into)
		if into == nil && std == nil {
			return // the literal null
		}
		if (m.Err() == nil) != (std == nil) {
			if e, ok := m.Err().(*SyntaxError); ok && e.What == "nested too deeply" {
				return
			}
			t.Fatalf("ours: %v, encoding/json: %v", m.Err(), std)
		}
		if std == nil && names < len(into) {
			t.Fatalf("%d members seen of %d", names, len(into))
		}
	})
}
