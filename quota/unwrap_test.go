package quota

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// TestJSONIn: an object inside a string is found behind any prefix, cut off, quoted twice, and not where there is none.
func TestJSONIn(t *testing.T) {
	for text, want := range map[string]string{
		`Upstream error: {"a":{"b":"}"}} and more {"c":1}`: `{"a":{"b":"}"}}`,
		`in {braces}: {"a":1}`:                             `{"a":1}`,
		`{"error":{"message":"cut of`:                      `{"error":{"message":"cut of`,
		`{\"error\":{\"code\":1}}`:                         `{"error":{"code":1}}`,
		`{}`:                                               "",
		`no object`:                                        "",
		`{{{{{{{{{{"a":1}`:                                 "",
		`a { b`:                                            "",
	} {
		v, _, ok := jsonIn(text)
		if ok != (want != "") || ok && v.Raw != want {
			t.Errorf("%s: %s (%v), want %s", text, v.Raw, ok, want)
		}
	}
}

// frame makes one message of Amazon's event stream, with headers of strings in pairs.
func frame(payload string, headers ...string) []byte {
	var h bytes.Buffer
	for i := 0; i+1 < len(headers); i += 2 {
		h.WriteByte(byte(len(headers[i])))
		h.WriteString(headers[i])
		h.WriteByte(7)
		h.Write(binary.BigEndian.AppendUint16(nil, uint16(len(headers[i+1]))))
		h.WriteString(headers[i+1])
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(16+h.Len()+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(h.Len()))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, h.Bytes()...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// TestEventStream: Bedrock's exceptions come as binary messages after a 200; a stream that is cut in the middle of one says
// what it says.
func TestEventStream(t *testing.T) {
	chunk := frame(`{"bytes":"e30="}`, ":message-type", "event", ":event-type", "chunk")
	refusal := frame(`{"message":"Too many tokens, please wait before trying again."}`, ":message-type", "exception", ":exception-type", "throttlingException")
	header := headers("Content-Type: application/vnd.amazon.eventstream")
	both := append(bytes.Clone(chunk), refusal...)
	trap(t, "aws-bedrock", 200, header, string(both), "rate_limited model")
	trap(t, "aws-bedrock", 200, header, string(refusal), "rate_limited model")
	trap(t, "aws-bedrock", 200, header, string(both[:len(both)-9]), "rate_limited model")
	trap(t, "aws-bedrock", 200, header, string(chunk), "ok request")
	for i := range both { // no cut and no flipped byte breaks anything
		broken := bytes.Clone(both)
		broken[i] ^= 0xff
		Read(Response{Provider: "aws-bedrock", Status: 200, Header: header, Body: broken, At: noon})
		Read(Response{Provider: "aws-bedrock", Status: 200, Header: header, Body: both[:i], At: noon})
	}
}

// TestVariants: of what a gateway's upstreams said, the first to recover decides, each in its own dialect.
func TestVariants(t *testing.T) {
	list := `zai: 429 {\"error\":{\"code\":\"1308\",\"message\":\"Your limit will reset at 2026-07-25 21:00:00\"}}; ollama1: 403 {\"error\":\"your subscription payment is past due\"}`
	trap(t, "multi-provider-proxy", 502, nil, `{"error":{"message":"All variants failed with errors: `+list+`"}}`, "quota_exhausted provider after 3600000 until T13:00:00")
	trap(t, "generic", 502, nil, `{"error":{"message":"groq: 400 {\"error\":\"invalid\"} | kimi: 401 {\"error\":\"no\"}"}}`, "auth_invalid provider")
	trap(t, "generic", 502, nil, `{"error":{"message":"one {\"a\":1} and two {\"b\":2}"}}`, "server_error provider") // no statuses: no list
}
