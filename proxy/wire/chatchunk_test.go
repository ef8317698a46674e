package wire

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadChunk(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		c := ReadChunk([]byte(data))
		var got strings.Builder
		for _, p := range []struct {
			name string
			set  bool
		}{{"done", c.Done}, {"valid", c.Valid}, {"content", c.Content}, {"bare", c.Bare}, {"failed", c.Failed}} {
			if p.set {
				got.WriteString(p.name + " ")
			}
		}
		if c.Choices != 0 {
			got.WriteString(fmt.Sprintf("choices=%b finished=%b ", c.Choices, c.Finished))
		}
		if c.Usage.Known {
			got.WriteString(fmt.Sprintf("in=%d out=%d read=%d write=%d reason=%d ", c.Usage.Input, c.Usage.Output, c.Usage.CacheRead, c.Usage.CacheWrite, c.Usage.Reasoning))
		}
		if c.Error.Found() {
			got.WriteString("error=" + string(c.Error.In([]byte(data))) + " ")
		}
		if mends := c.Mends(); len(mends) > 0 {
			got.WriteString("mended=" + string(Splice(nil, []byte(data), mends)) + " ")
		}
		if got.String() != want+" " && got.String() != want {
			t.Errorf("%s\n got %s\nwant %s", data, got.String(), want)
		}
	}
	f(`[DONE]`, `done`)
	f(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, `valid choices=1 finished=0`)
	f(`{"choices":[{"index":0,"delta":{"content":"x"}}]}`, `valid content choices=1 finished=0`)
	f(`{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`, `valid choices=10 finished=10`)
	f(`{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`, `valid content choices=1 finished=0`)
	f(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]}`, `valid content choices=1 finished=0`)
	f(`{"choices":[{"index":0,"delta":{"tool_calls":[]}}]}`, `valid choices=1 finished=0`)
	f(`{"choices":[{"index":0,"text":"x","finish_reason":null}]}`, `valid content choices=1 finished=0`)
	f(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`, `valid bare in=10 out=0 read=4 write=0 reason=2`)
	f(`{"choices":[],"usage":null}`, `valid`)
	f(`{"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, `valid choices=1 finished=0 in=3 out=1 read=0 write=0 reason=0`)
	f(`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, `valid failed choices=1 finished=1`)
	f(`{"error":{"code":429}}`, `valid error={"code":429}`)
	f(`{"error":null,"choices":[]}`, `valid mended={"choices":[]}`)
	f(`{"choices":[],"error": null}`, `valid mended={"choices":[]}`)
	f(`{"choices":[],"error":"","id":"x"}`, `valid mended={"choices":[],"id":"x"}`)
	f(`{"error":null}`, `valid mended={}`)
	f(`{"choices":null}`, `valid mended={"choices":[]}`)
	f(`{"choices": null ,"error":null,"x":1}`, `valid mended={"choices": [],"x":1}`)
	f(`{"error":null,"choices":null}`, `valid mended={"choices":[]}`)
	f(`null`, ``)
	f(``, ``)
	f(`: keepalive`, ``)
	f(`{"choices":[`, ``)
}

func TestReadAnswer(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		a := ReadAnswer([]byte(body))
		if got := fmt.Sprintf("valid=%t error=%t content=%t in=%d out=%d known=%t", a.Valid, a.Error, a.Content, a.Usage.Input, a.Usage.Output, a.Usage.Known); got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	f(`{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":7,"completion_tokens":0}}`, `valid=true error=false content=true in=7 out=0 known=true`)
	f(`{"choices":[],"usage":null}`, `valid=true error=false content=false in=0 out=0 known=false`)
	f(`{"error":{"message":"x"},"choices":[]}`, `valid=true error=true content=false in=0 out=0 known=false`)
	f(`{"error":null,"choices":[{}]}`, `valid=true error=false content=true in=0 out=0 known=false`)
	f(`{"choices":[{"message":{"content":"x`, `valid=false error=false content=false in=0 out=0 known=false`)
	f(``, `valid=false error=false content=false in=0 out=0 known=false`)
	f(`{"choices":[{}],"usage":{"prompt_tokens":-1,"completion_tokens":1e3}}`, `valid=true error=false content=true in=0 out=0 known=false`)
}

func FuzzReadChunk(f *testing.F) {
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}],"error":null,"usage":{"prompt_tokens":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := ReadChunk(data)
		if mends := c.Mends(); len(mends) > 0 {
			mended := Splice(nil, data, mends)
			if !ReadChunk(mended).Valid {
				t.Fatalf("mending %q leaves %q", data, mended)
			}
		}
	})
}

func TestReadChunkAllocatesNothing(t *testing.T) {
	data := []byte(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}],"usage":null}`)
	if n := testing.AllocsPerRun(100, func() { ReadChunk(data) }); n != 0 {
		t.Errorf("%v allocations per chunk", n)
	}
}

func BenchmarkReadChunk(b *testing.B) {
	data := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1750000000,"model":"gpt-5.5","choices":[{"index":0,"delta":{"content":"hello there"},"finish_reason":null}],"usage":null}`)
	b.ReportAllocs()
	for b.Loop() {
		ReadChunk(data)
	}
}
