package gemini

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/wire"
)

// Each schema is what a client may send, and what becomes of it as JSON Schema and as a Schema message. "" is: as it is.
func TestSchemas(t *testing.T) {
	f := func(name, in, plain, message string, lost ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			for _, c := range []struct {
				want    string
				message bool
			}{{plain, false}, {message, true}} {
				if c.want == "" {
					c.want = in
				}
				got, gone := repairSchema(nil, []byte(in), c.message)
				if string(got) != c.want {
					t.Errorf("message %t\n got %s\nwant %s", c.message, got, c.want)
				}
				again, _ := repairSchema(nil, got, c.message)
				if string(again) != string(got) {
					t.Errorf("message %t: the second time it becomes\n%s", c.message, again)
				}
				if c.message {
					continue
				}
				if !slices.Equal(gone, lost) {
					t.Errorf("lost %q, want %q", gone, lost)
				}
			}
		})
	}
	f("nothing to do", `{"type": "object", "properties": {"a": {"type": "string", "description": "An \"a\""}, "b": {"type":"array","items":{"type":"integer"}}}, "required": ["a"]}`, "", "")
	f("names that are keywords", `{"type":"object","properties":{"const":{"type":"string"},"$ref":{"type":"string"},"allOf":{"type":"string"},"properties":{"type":"object","properties":{"x":{"type":"string"}}}}}`, "", "")
	f("annotations", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"T","properties":{"a":{"type":"string","examples":["x"]}}}`, "",
		`{"type":"object","properties":{"a":{"type":"string"}}}`)
	f("additionalProperties", `{"type":"object","properties":{"env":{"type":"object","additionalProperties":{"type":"string"}},"a":{"type":"object","additionalProperties":true}},"additionalProperties":false}`, "",
		`{"type":"object","properties":{"env":{"type":"object","description":"(additionalProperties: {\"type\":\"string\"})"},"a":{"type":"object"}}}`)
	f("const", `{"type":"object","properties":{"kind":{"const":"a"},"n":{"const":3},"b":{"const":true}}}`,
		`{"type":"object","properties":{"kind":{"enum":["a"],"type":"string"},"n":{"enum":[3],"type":"integer"},"b":{"enum":[true],"type":"boolean"}}}`,
		`{"type":"object","properties":{"kind":{"enum":["a"],"type":"string"},"n":{"type":"integer","description":"(enum: [3])"},"b":{"type":"boolean","description":"(enum: [true])"}}}`)
	f("enum", `{"type":"object","properties":{"a":{"enum":["x","y",null]},"b":{"type":"integer","enum":[1,2],"description":"Which"}}}`, "",
		`{"type":"object","properties":{"a":{"enum":["x","y"],"type":"string","nullable":true},"b":{"type":"integer","description":"Which (enum: [1,2])"}}}`)
	f("enum without type", `{"type":"object","properties":{"a":{"enum":["x","y"]}}}`,
		`{"type":"object","properties":{"a":{"enum":["x","y"],"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"enum":["x","y"],"type":"string"}}}`)
	f("lists of types", `{"type":"object","properties":{"a":{"type":["string","null"],"description":"A"},"b":{"type":["string","number"],"description":"B"}}}`, "",
		`{"type":"object","properties":{"a":{"type":"string","nullable":true,"description":"A"},"b":{"anyOf":[{"type":"string","description":"B"},{"type":"number","description":"B"}]}}}`)
	f("anyOf", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"description":"A","default":null},"b":{"oneOf":[{"type":"string"},{"type":"integer","minimum":1}]}}}`, "",
		`{"type":"object","properties":{"a":{"type":"string","nullable":true,"description":"A (default: null)"},"b":{"anyOf":[{"type":"string"},{"type":"integer","minimum":1}]}}}`)
	f("anyOf at the top", `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`,
		`{"type":"object","anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}}}]}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)
	f("references", `{"type":"object","properties":{"p":{"$ref":"#/$defs/P","description":"Mine"},"q":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"object","description":"Theirs","properties":{"x":{"type":"number"}},"required":["x"]}}}`,
		`{"type":"object","properties":{"p":{"description":"Mine","type":"object","properties":{"x":{"type":"number"}},"required":["x"]},"q":{"type":"object","description":"Theirs","properties":{"x":{"type":"number"}},"required":["x"]}}}`,
		`{"type":"object","properties":{"p":{"type":"object","description":"Mine","properties":{"x":{"type":"number"}},"required":["x"]},"q":{"type":"object","description":"Theirs","properties":{"x":{"type":"number"}},"required":["x"]}}}`)
	f("a tree", `{"type":"object","properties":{"root":{"$ref":"#/definitions/N"}},"definitions":{"N":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/definitions/N"}}}}}}`,
		`{"type":"object","properties":{"root":{"type":"object","properties":{"kids":{"type":"array","items":{"type":"object","properties":{"kids":{"type":"array","items":{"type":"object"}}}}}}}}}`,
		`{"type":"object","properties":{"root":{"type":"object","properties":{"kids":{"type":"array","items":{"type":"object","properties":{"kids":{"type":"array","items":{"type":"object"}}}}}}}}}`, "$ref")
	f("a reference to nowhere", `{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}`,
		`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, "$ref")
	f("allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b","a"]}]}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`)
	f("constraints", `{"type":"object","properties":{"a":{"type":"string","minLength":3,"format":"uri","pattern":"^a\"","description":"A."},"n":{"type":"integer","exclusiveMinimum":0,"maximum":9},"l":{"type":"array","uniqueItems":true}}}`, "",
		`{"type":"object","properties":{"a":{"type":"string","description":"A. (minLength: 3) (format: \"uri\") (pattern: \"^a\\\"\")"},"n":{"type":"integer","maximum":9,"description":"(exclusiveMinimum: 0)"},"l":{"type":"array","items":{},"description":"(uniqueItems: true)"}}}`)
	f("tuples", `{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{},"description":"(items: [{\"type\":\"string\"},{\"type\":\"number\"}])"}}}`)
	f("required without properties", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, "required")
	f("lists that should be objects", `{"type":"object","properties":[],"required":false}`, `{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`)
	f("nothing said", `{}`, `{"type":"object"}`, `{"type":"object"}`)
	f("booleans", `{"type":"object","properties":{"a":true,"b":{}}}`, "", `{"type":"object","properties":{"a":{},"b":{}}}`)
	f("anyOf beside properties", `{"type":"object","properties":{"o":{"type":"object","properties":{"x":{"type":"string"}},"anyOf":[{"required":["x"]}]}}}`,
		`{"type":"object","properties":{"o":{"type":"object","anyOf":[{}],"properties":{"x":{"type":"string"}}}}}`,
		`{"type":"object","properties":{"o":{"type":"object","description":"(anyOf: [{\"required\":[\"x\"]}])","properties":{"x":{"type":"string"}}}}}`, "required")
}

// A schema whose definitions refer to each other many times over would be written out without end.
func TestSchemaOfManyReferences(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		n := strings.Repeat("1", i+1)
		b.WriteString(`"d` + strings.Repeat("1", i) + `":{"type":"object","properties":{"x":{"$ref":"#/$defs/d` + n + `"},"y":{"$ref":"#/$defs/d` + n + `"}}},`)
	}
	b.WriteString(`"d0":{"$ref":"#/$defs/d"}}}`)
	for _, message := range []bool{false, true} {
		got, lost := repairSchema(nil, []byte(b.String()), message)
		if len(got) > 1<<20 || !json.Valid(got) || !slices.Contains(lost, "$ref") {
			t.Errorf("message %t: %d bytes, lost %q", message, len(got), lost)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`)
	f.Add(`{"allOf":[{"$ref":"#/allOf/0"}],"anyOf":[true,{"type":["null","string"]},{"enum":[1,"a",null]}]}`)
	f.Add(`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"items":[{}]}],"oneOf":[{}]}},"required":["a",1]}`)
	f.Add(agentSchema(`,"const":"a","minLength":3`))
	f.Fuzz(func(t *testing.T, text string) {
		if isObject([]byte(text)) {
			repairs(t, text)
		}
	})
}

// FuzzGrownSchema lets the input choose among the keywords, so that it is a schema every time.
func FuzzGrownSchema(f *testing.F) {
	f.Add([]byte("\x06\x00\x01\x09\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c"))
	f.Add([]byte("\x0c\x0d\x0e\x01\x02\x0f\x03\x03\x10\x11\x09\x09\x09\x09\x01\x00\x02"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		g := grower{choices: choices}
		repairs(t, g.schema(0))
	})
}

// repairs proves what holds for every schema.
func repairs(t *testing.T, text string) {
	t.Helper()
	in := []byte(text)
	for _, message := range []bool{false, true} {
		out, _ := repairSchema([]byte("x"), in, message)
		if string(in) != text || out[0] != 'x' {
			t.Fatal("changed what was not its own")
		}
		out = out[1:]
		if !isObject(out) {
			t.Fatalf("message %t: made of\n%s\n%s", message, text, out)
		}
		again, _ := repairSchema(nil, out, message)
		if string(again) != string(out) {
			t.Fatalf("message %t: made of\n%s\n%s\nand then\n%s", message, text, out, again)
		}
		if message {
			onlyKnown(t, out)
		}
	}
}

// grower makes schemas by choice.
type grower struct{ choices []byte }

func (g *grower) choose(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0]) % n
	g.choices = g.choices[1:]
	return c
}

func (g *grower) schema(depth int) string {
	if depth > 5 || len(g.choices) == 0 {
		return "{}"
	}
	keywords := []string{}
	add := func(name, value string) { keywords = append(keywords, `"`+name+`":`+value) }
	for range g.choose(5) {
		switch g.choose(18) {
		case 0:
			add("type", []string{`"object"`, `"array"`, `"string"`, `"null"`, `["string","null"]`, `["array","integer","null"]`}[g.choose(6)])
		case 1:
			add("properties", `{"a":`+g.schema(depth+1)+`,"b":`+g.schema(depth+1)+`}`)
		case 2:
			add("required", []string{`["a"]`, `["a","c"]`, `[]`, `[1]`}[g.choose(4)])
		case 3:
			add("items", []string{g.schema(depth + 1), "[" + g.schema(depth+1) + "]", "true"}[g.choose(3)])
		case 4, 5, 6:
			add([]string{"anyOf", "oneOf", "allOf"}[g.choose(3)], "["+g.schema(depth+1)+","+g.schema(depth+1)+"]")
		case 7:
			add("anyOf", "["+g.schema(depth+1)+`,{"type":"null"}]`)
		case 8:
			add("const", []string{`"x"`, "1", "null", "{}"}[g.choose(4)])
		case 9:
			add("enum", []string{`["x","y"]`, `[1,2.5]`, `["x",null]`, `[null]`, `[]`}[g.choose(5)])
		case 10:
			add("$ref", []string{`"#"`, `"#/$defs/A"`, `"#/properties/a"`, `"b.json"`}[g.choose(4)])
		case 11:
			add("$defs", `{"A":`+g.schema(depth+1)+`}`)
		case 12:
			add("additionalProperties", []string{"false", "{}", g.schema(depth + 1)}[g.choose(3)])
		case 13:
			add("description", []string{`"a \"b\""`, `""`, "1"}[g.choose(3)])
		case 14:
			add("nullable", []string{"true", "false"}[g.choose(2)])
		case 15:
			add("minimum", []string{"1", `"1"`}[g.choose(2)])
		case 16:
			add("title", `"T"`)
		case 17:
			add("minLength", "3")
		}
	}
	return "{" + strings.Join(keywords, ",") + "}"
}

// onlyKnown fails on a keyword that the Schema message does not have.
func onlyKnown(t *testing.T, schema []byte) {
	t.Helper()
	if schema[0] != '{' {
		t.Fatalf("%s is no schema", schema)
	}
	m := wire.Object(schema)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		v := at.In(schema)
		switch string(name) {
		case "type", "enum", "minimum", "maximum", "nullable", "description", "required":
		case "items":
			onlyKnown(t, v)
		case "anyOf":
			a := wire.Array(v)
			for b, ok := a.Next(); ok; b, ok = a.Next() {
				onlyKnown(t, b)
			}
		case "properties":
			p := wire.Object(v)
			for _, at, ok := p.Next(); ok; _, at, ok = p.Next() {
				onlyKnown(t, at.In(v))
			}
		default:
			t.Fatalf("%s has %s", schema, name)
		}
	}
}
