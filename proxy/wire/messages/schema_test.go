package messages

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/wire/neutral"
)

// asTool and asAnswer write a schema of a tool, and of the answer.
func asTool(schema string) *encoder {
	e := &encoder{m: modelOf("claude-opus-5")}
	e.toolSchema(&neutral.Tool{Name: "f", Schema: []byte(schema), Path: "tools[0]"})
	return e
}

func asAnswer(schema string) *encoder {
	e := &encoder{m: modelOf("claude-opus-5")}
	e.answerSchema(neutral.Format{Kind: neutral.FormatSchema, Schema: []byte(schema)})
	return e
}

// outcome is a schema as it is written, with the keywords that were left out, or why it is refused.
func outcome(e *encoder) string {
	if e.err != nil {
		return e.err.Error()
	}
	var out strings.Builder
	out.WriteString(string(e.out))
	for _, d := range e.dropped {
		out.WriteString(" -" + d[strings.LastIndexByte(d, '.')+1:])
	}
	return out.String()
}

func TestToolSchema(t *testing.T) {
	f := func(schema, want string) {
		t.Helper()
		if got := outcome(asTool(schema)); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", schema, got, want)
		}
	}
	untouched := `{ "type":"object", "properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"required":{"type":"boolean"},"items":{"type":"string"}},
		"required":["a"], "default":{"items":[1],"required":true}, "additionalProperties":true }`
	f(untouched, untouched)
	f(`{"properties":{}}`, `{"type":"object","properties":{}}`)
	f(`{}`, `{"type":"object"}`)
	f(`{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`)
	f(`{"type":"string"}`, "tools[0].function.parameters must be an object's schema")
	f(`{"type":"object","description":null,"properties":{"a":{"default":null,"enum":null,"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"default":null,"type":"string"}}}`)
	f(`{"type":"object","properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true,"required":true}}}`,
		`{"type":"object","properties":{"a":{"type":"number","minimum":0}}}`)
	f(`{"type":"object","properties":{"t":{"type":"array","items":[{"type":"string"},{"required":false}]}}}`,
		`{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{}]}}}`)

	// What branches at the top becomes one object.
	f(`{"anyOf":[{"properties":{"a":{},"b":{}},"required":["a","b"]},{"$ref":"#/$defs/C"}],"$defs":{"C":{"properties":{"a":{},"c":{}},"required":["a","c"]}}}`,
		`{"type":"object","$defs":{"C":{"properties":{"a":{},"c":{}},"required":["a","c"]}},"properties":{"a":{},"b":{},"c":{}},"required":["a"]} -anyOf`)
	f(`{"type":"object","properties":{"x":{}},"required":["x"],"allOf":[{"properties":{"a":{}},"required":["a"]},{"required":["b"]}]}`,
		`{"type":"object","properties":{"x":{},"a":{}},"required":["x","a","b"]} -allOf`)
}

func TestAnswerSchema(t *testing.T) {
	f := func(schema, want string) {
		t.Helper()
		if got := outcome(asAnswer(schema)); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", schema, got, want)
		}
	}
	const names = "response_format.json_schema.schema must name every member of every object (additionalProperties: false) for this account"
	f(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	f(`{"type":"object","properties":{"a":{"type":"object","properties":{}}},"additionalProperties":true}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":false}},"additionalProperties":false}`)
	f(`{"type":"object","properties":{"a":{"type":"object"}}}`, names)
	f(`{"type":"object","additionalProperties":{"type":"string"}}`, names)
	f(`{"type":"array","items":{"oneOf":[{"type":"integer","maximum":5},{"type":"string","format":"regex","minLength":1}]},"minItems":2,"maxItems":9}`,
		`{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"string"}]}} -maximum -format -minLength -minItems -maxItems`)
	f(`{"type":"string","format":"date","enum":["a"]}`, `{"type":"string","format":"date","enum":["a"]}`)
}

// A mended schema is valid JSON and needs nothing more.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"items":[{}],"required":true}}}`, `{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[]}}}`,
		`{"allOf":[{"required":["a"]},{"required":["a","b"]}],"required":null}`, `{"type":["object"],"oneOf":{},"properties":[]}`, `true`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		if !gjson.Valid(schema) {
			return
		}
		schema = strings.TrimSpace(schema)
		for _, mend := range []func(string) *encoder{asTool, asAnswer} {
			once := mend(schema)
			if once.err != nil {
				continue
			}
			if !gjson.ValidBytes(once.out) {
				t.Errorf("%s: no JSON: %s", schema, once.out)
			}
			if twice := mend(string(once.out)); twice.err != nil || string(twice.out) != string(once.out) {
				t.Errorf("%s\n\tonce  %s\n\ttwice %s %v", schema, once.out, twice.out, twice.err)
			}
		}
	})
}
