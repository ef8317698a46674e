package wire

import (
	"fmt"
	"strings"
	"testing"
)

// tell prints what a step says, for the tables.
func tell(s Step) string {
	var b strings.Builder
	for _, p := range []struct {
		name string
		set  bool
	}{
		{"valid", s.Valid},
		{"ping", s.Ping},
		{"foreign", s.Foreign},
		{"content", s.Content},
		{"done", s.Done},
		{"failed", s.Failed},
	} {
		if p.set {
			b.WriteString(" " + p.name)
		}
	}
	if s.Usage.Known {
		fmt.Fprintf(&b, " in=%d out=%d read=%d write=%d reason=%d", s.Usage.Input, s.Usage.Output, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Reasoning)
	}
	for _, sealed := range s.Sealed {
		fmt.Fprintf(&b, " sealed=%s", sealed)
	}
	return strings.TrimPrefix(b.String(), " ")
}

func TestMessagesReader(t *testing.T) {
	var r MessagesReader
	f := func(data, want string) {
		t.Helper()
		if got := tell(r.Read([]byte(data))); got != want {
			t.Errorf("%s\n got %s\nwant %s", data, got, want)
		}
	}
	f(`{"type":"message_start","message":{"id":"msg_1","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}`, `valid in=115 out=1 read=100 write=5 reason=0`)
	f(`{"type":"ping"}`, `valid ping`)
	f(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, `valid`)
	f(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, `valid content`)
	f(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB+/="}}`, `valid content sealed=EqQB+/=`)
	f(`{"type":"content_block_stop","index":0}`, `valid`)
	f(`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Em"}}`, `valid content sealed=Em`)
	f(`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`, `valid`)
	f(`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":""}}`, `valid`)
	f(`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"{\"type\":\"error\"}"}}`, `valid content`)
	f(`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}`, `valid content`)
	f(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`, `valid`)
	f(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{"}}`, `valid content`)
	f(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20,"output_tokens_details":{"thinking_tokens":7}}}`, `valid content in=115 out=20 read=100 write=5 reason=7`)
	// Servers that tell the prompt's numbers again, as zeros, mean that they have told them.
	f(`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"input_tokens":0,"output_tokens":21}}`, `valid in=115 out=21 read=100 write=5 reason=7`)
	f(`{"type":"message_stop"}`, `valid done`)
	f(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, `valid failed`)
	f(`{"error":{"message":"no type"}}`, `valid failed`)
	f(`{"type":"content_block_delta","error":null,"delta":{"text":"x"}}`, `valid content`)
	f(`{"type":"something_new","index":3}`, `valid`)
	f(`{}`, ``)
	f(`[DONE]`, ``)
	f(`{"type":"message_stop"`, ``)
	f(``, ``)
}

func TestResponsesReader(t *testing.T) {
	var r ResponsesReader
	f := func(data, want string) {
		t.Helper()
		if got := tell(r.Read([]byte(data))); got != want {
			t.Errorf("%s\n got %s\nwant %s", data, got, want)
		}
	}
	f(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","error":null,"output":[],"usage":null}}`, `valid`)
	f(`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`, `valid`)
	f(`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, `valid content`)
	f(`{"type":"response.output_item.done","item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}}`, `valid content sealed=gAAA`)
	f(`{"type":"response.output_item.added","item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`, `valid`)
	f(`{"type":"response.content_part.added","part":{"type":"output_text","text":""}}`, `valid`)
	f(`{"type":"response.output_text.delta","delta":""}`, `valid`)
	f(`{"type":"response.output_text.delta","delta":"x","logprobs":[],"obfuscation":"abc"}`, `valid content`)
	f(`{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"x"}]}}`, `valid content`)
	f(`{"type":"response.output_item.added","item":{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":""}}`, `valid content`)
	f(`{"type":"response.function_call_arguments.delta","delta":"{"}`, `valid content`)
	f(`{"type":"response.completed","response":{"status":"completed","error":null,"output":[{"type":"reasoning","encrypted_content":"gAAB"}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2}}}}`, `valid content done in=9 out=3 read=4 write=0 reason=2 sealed=gAAB`)
	f(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, `valid content done`)
	f(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}}}`, `valid failed`)
	f(`{"type":"response.completed","response":{"status":"failed"}}`, `valid content failed`)
	f(`{"type":"error","code":"server_error","message":"x","param":null}`, `valid failed`)
	f(`{"error":{"message":"x"}}`, `valid failed`)
	f(`{"type":"codex.rate_limits","rate_limits":{}}`, `valid foreign`)
	f(`{"type":"keepalive"}`, `valid foreign`)
	f(`{"type":"response.something_new.delta","delta":{}}`, `valid`)
	f(`{"choices":[]}`, ``)
	f(`[DONE]`, ``)
	f(`{"type":"response.completed"`, ``)
}

func TestReadWholeAnswers(t *testing.T) {
	f := func(a Answer, sealed [][]byte, want string) {
		t.Helper()
		got := fmt.Sprintf("valid=%t error=%t content=%t in=%d out=%d sealed=%s", a.Valid, a.Error, a.Content, a.Usage.Input, a.Usage.Output, sealed)
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	messages := func(body, want string) {
		t.Helper()
		a, sealed := ReadMessagesAnswer([]byte(body))
		f(a, sealed, want)
	}
	messages(`{"type":"message","content":[{"type":"thinking","thinking":"","signature":"S"},{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}`, `valid=true error=false content=true in=5 out=1 sealed=[S]`)
	messages(`{"type":"message","content":[],"stop_reason":"refusal"}`, `valid=true error=false content=true in=0 out=0 sealed=[]`)
	messages(`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":null}`, `valid=true error=false content=false in=0 out=0 sealed=[]`)
	messages(`{"type":"error","error":{"type":"overloaded_error"}}`, `valid=true error=true content=false in=0 out=0 sealed=[]`)
	messages(`{"choices":[{}]}`, `valid=true error=false content=false in=0 out=0 sealed=[]`)
	messages(`{"type":"message","content":[],"stop_reason":"end_turn"`, `valid=false error=false content=false in=0 out=0 sealed=[]`)

	responses := func(body, want string) {
		t.Helper()
		a, sealed := ReadResponsesAnswer([]byte(body))
		f(a, sealed, want)
	}
	responses(`{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","encrypted_content":"E"},{"type":"message"}],"usage":{"input_tokens":3,"output_tokens":1}}`, `valid=true error=false content=true in=3 out=1 sealed=[E]`)
	responses(`{"object":"response","status":"incomplete","output":[]}`, `valid=true error=false content=true in=0 out=0 sealed=[]`)
	responses(`{"object":"response","status":"failed","error":{"code":"x"},"output":[]}`, `valid=true error=true content=false in=0 out=0 sealed=[]`)
	responses(`{"object":"response","status":"queued","background":true}`, `valid=true error=false content=true in=0 out=0 sealed=[]`)
	responses(`{"detail":"Unauthorized"}`, `valid=true error=false content=false in=0 out=0 sealed=[]`)

	count := func(body, want string) {
		t.Helper()
		f(ReadTokenCount([]byte(body)), nil, want)
	}
	count(`{"input_tokens":12}`, `valid=true error=false content=true in=0 out=0 sealed=[]`)
	count(`{"input_tokens":null}`, `valid=true error=false content=false in=0 out=0 sealed=[]`)
	count(`{"type":"error","error":{"message":"x"}}`, `valid=true error=true content=false in=0 out=0 sealed=[]`)
}

const (
	messagesDelta  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello there"}}`
	responsesDelta = `{"type":"response.output_text.delta","content_index":0,"delta":"hello there","item_id":"msg_0123456789abcdef","logprobs":[],"obfuscation":"Jx2fP0","output_index":0,"sequence_number":17}`
)

func TestReadersAllocateNothing(t *testing.T) {
	var m MessagesReader
	var r ResponsesReader
	sealing := []byte(`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"EqQB"}}`)
	m.Read(sealing)
	for _, data := range [][]byte{[]byte(messagesDelta), sealing} {
		if n := testing.AllocsPerRun(100, func() { m.Read(data) }); n != 0 {
			t.Errorf("%v allocations for %s", n, data)
		}
	}
	data := []byte(responsesDelta)
	if n := testing.AllocsPerRun(100, func() { r.Read(data) }); n != 0 {
		t.Errorf("%v allocations for %s", n, responsesDelta)
	}
}

func FuzzReaders(f *testing.F) {
	for _, seed := range []string{messagesDelta, responsesDelta, `{"type":"response.completed","response":{"output":[{"type":"reasoning","encrypted_content":"x"}],"usage":{}}}`, `{"type":"message_start","message":{"usage":{"input_tokens":-1}}}`, `{"input_tokens":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m MessagesReader
		var r ResponsesReader
		for _, s := range []Step{m.Read(data), r.Read(data)} {
			if s.Done && s.Failed || (s.Done || s.Content || s.Failed || len(s.Sealed) > 0) && !s.Valid {
				t.Errorf("%q reads as %+v", data, s)
			}
		}
		ReadMessagesAnswer(data)
		ReadResponsesAnswer(data)
		ReadTokenCount(data)
	})
}

func BenchmarkMessagesReader(b *testing.B) {
	var r MessagesReader
	data := []byte(messagesDelta)
	b.ReportAllocs()
	for b.Loop() {
		r.Read(data)
	}
}

func BenchmarkResponsesReader(b *testing.B) {
	var r ResponsesReader
	data := []byte(responsesDelta)
	b.ReportAllocs()
	for b.Loop() {
		r.Read(data)
	}
}
