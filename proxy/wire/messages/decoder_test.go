package messages

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/wire/neutral"
)

// decoded is what a stream of data lines becomes: a word for each event, and how it ends.
func decoded(lines string) string {
	var d Decoder
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		events, err := d.Decode(nil, []byte(strings.TrimSpace(line)), nil)
		for _, e := range events {
			out = append(out, word(e))
		}
		if err != nil {
			return strings.Join(append(out, "error: "+err.Error()), ", ")
		}
	}
	if d.Whole() {
		out = append(out, "whole")
	}
	return strings.Join(out, ", ")
}

func word(e neutral.Event) string {
	switch e.Kind {
	case neutral.Started:
		return "started " + e.ID
	case neutral.Text:
		return "text " + string(e.Text)
	case neutral.Reasoning:
		return "reasoning " + string(e.Text)
	case neutral.Refusal:
		return "refusal " + string(e.Text)
	case neutral.Sealed:
		return fmt.Sprintf("sealed %s %v", e.Seal.Data, e.Seal.Hidden)
	case neutral.ToolStarted:
		return fmt.Sprintf("call %d %s %s", e.Tool, e.ID, e.Name)
	case neutral.ToolArguments:
		return fmt.Sprintf("arguments %d %s", e.Tool, e.Text)
	case neutral.Counted:
		return fmt.Sprintf("counted %d/%d", e.Usage.Input, e.Usage.Output)
	case neutral.Finished:
		return fmt.Sprintf("finished %d", e.Finish)
	}
	return "failed " + string(e.Fault)
}

// P18: a stream that is not what the protocol says is an error where it goes wrong, and never half a success.
func TestDecoderStreams(t *testing.T) {
	const (
		start = `{"type":"message_start","message":{"id":"m"}}`
		text  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		tool  = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`
		hi    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`
		args  = `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`
		stop  = `{"type":"content_block_stop","index":0}`
		ends  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`
		end   = `{"type":"message_stop"}`
		bad   = "error: read a Messages stream: "
	)
	f := func(want string, lines ...string) {
		t.Helper()
		if got := decoded(strings.Join(lines, "\n")); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", strings.Join(lines, " "), got, want)
		}
	}
	reason := func(r string) string { return `{"type":"message_delta","delta":{"stop_reason":"` + r + `"}}` }

	f(`started m, text "hi", counted 0/3, finished 1, whole`, start, text, hi, stop, ends, end)
	f(`started m, text "hi", counted 0/3`, start, text, hi, stop, ends) // cut in front of its end
	f(`started m, text "hi"`, start, text, hi)
	f(`started m, call 0 t f, arguments 0 "{"`, start, tool, args) // cut inside the arguments
	f(`started m, call 0 t f, arguments 0 "{}", finished 3, whole`, start, tool, stop, reason("tool_use"), end)
	f(`started m, call 0 t f, arguments 0 "{\"a\":1}", finished 3, whole`, start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":1}}}`, stop, reason("end_turn"), end)
	f(`started m, finished 1, whole`, start, reason("stop_sequence"), end)
	f(`started m, finished 1, whole`, start, reason("tool_use"), end) // no call came
	f(`started m, finished 2, whole`, start, reason("max_tokens"), end)
	f(`started m, finished 2, whole`, start, reason("model_context_window_exceeded"), end)
	f(`started m, finished 5, whole`, start, reason("refusal"), end)
	f(`started m, finished 1, whole`, start, reason("something_new"), end, `{"type":"content_block_start"}`, "[DONE]")
	f(`started m, finished 1, whole`, `{"type":"ping"}`, start, `{"type":"brand_new","index":4}`, reason("end_turn"), end)
	f(`started m, sealed s false`, start, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s"}}`, stop) // thoughts that are kept back
	f(`failed {"type":"error","error":{"type":"overloaded_error"}}`, `{"type":"error","error":{"type":"overloaded_error"}}`, start)
	f(`started m, failed {"error":{"message":"x"}}`, start, `{"error":{"message":"x"}}`, text, end)

	f(bad+"invalid JSON at byte 1: expected a string", "{oops")
	f(bad+"invalid JSON at byte 0: expected an object", "null")
	f("started m, "+bad+"a second message_start", start, start)
	f(bad+"content_block_start before message_start", text)
	f(bad+"message_stop before message_start", end)
	f("started m, "+bad+"content_block_delta of a block that is not open", start, hi)
	f("started m, "+bad+"content_block_delta of a block that is not open", start, text, strings.Replace(hi, `"index":0`, `"index":1`, 1))
	f("started m, call 0 t f, arguments 0 \"{\", "+bad+"content_block_delta of a block that is not open", start, tool, args, stop, args)
	f("started m, "+bad+"content_block_start inside another block", start, text, text)
	f("started m, "+bad+"content_block_stop of a block that is not open", start, stop)
	f("started m, "+bad+`input_json_delta in a block of type "text"`, start, text, args)
	f("started m, call 0 t f, "+bad+`text_delta in a block of type "tool_use"`, start, tool, hi)
	f("started m, "+bad+"a tool_use block without an id or a name", start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t"}}`)
	f("started m, "+bad+"a content block without a type", start, `{"type":"content_block_start","index":0}`)
	f("started m, "+bad+"message_stop inside a content block", start, text, reason("end_turn"), end)
	f("started m, "+bad+"message_stop without a stop_reason", start, end)
}

func TestDecodeAnswer(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		events, err := DecodeAnswer([]byte(body), nil)
		var out []string
		for _, e := range events {
			out = append(out, word(e))
		}
		if err != nil {
			out = append(out, "error: "+err.Error())
		}
		if got := strings.Join(out, ", "); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", body, got, want)
		}
	}
	f(`{"id":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`, `started m, text "hi", counted 1/2, finished 1`)
	f(`{"id":"m","content":[],"stop_reason":"refusal","stop_details":{"explanation":"no"}}`, `started m, refusal "no", finished 5`)
	f(`{"type":"error","error":{"type":"api_error"}}`, `failed {"type":"error","error":{"type":"api_error"}}`)
	f(`{"id":"m","content":[{"type":"text","text":"hi"}]}`, "error: read a Messages answer: no stop_reason")
	f(`{"id":"m","stop_reason":"end_turn"}`, "error: read a Messages answer: no content")
	f(`{"id":"m","content":[{"type":"tool_use"}],"stop_reason":"tool_use"}`, "started m, error: read a Messages stream: a tool_use block without an id or a name")
	f(`<html>`, "error: read a Messages answer: invalid JSON at byte 0: expected an object")
}

// Whatever comes: no panic, texts are literals, and a finished stream is one whose end was seen.
func FuzzDecoder(f *testing.F) {
	f.Add("{\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"a\"}}\n{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n{\"type\":\"content_block_stop\",\"index\":0}\n{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n{\"type\":\"message_stop\"}")
	f.Add("{\"type\":\"message_start\"}\n{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\",\"input\":{\"a\":1}}}\n{\"type\":\"content_block_stop\",\"index\":0}")
	f.Fuzz(func(t *testing.T, stream string) {
		var d Decoder
		finished := false
		for line := range strings.SplitSeq(stream, "\n") {
			events, err := d.Decode(nil, []byte(line), nil)
			for _, e := range events {
				if e.Text != nil && !gjson.ValidBytes(e.Text) {
					t.Errorf("%s is no literal", e.Text)
				}
				if e.Kind == neutral.ToolStarted && (e.ID == "" || e.Name == "" || e.Tool < 0) {
					t.Errorf("a call without a name: %+v", e)
				}
				finished = finished || e.Kind == neutral.Finished
			}
			if err != nil {
				if !errors.Is(err, ErrStream) {
					t.Errorf("an error of no kind: %v", err)
				}
				return
			}
		}
		if finished != d.Whole() {
			t.Errorf("finished %v, whole %v", finished, d.Whole())
		}
		_, _ = DecodeAnswer([]byte(stream), nil)
	})
}

var _ neutral.Decoder = (*Decoder)(nil)
