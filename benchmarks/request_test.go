package benchmarks

import (
	"fmt"
	"strings"
	"testing"
)

func request(model string, size int, stream bool) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"stream":%t,"model":%q}`, strings.Repeat("lorem ipsum ", size/12), stream, model)
}

func BenchmarkWholeRequest(b *testing.B) {
	answer := []byte(`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("answer ", 130) +
		`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":130}}`)
	for _, kb := range []int{1, 64} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			benchmark(b, chatAccount, canned{"application/json", answer}, chatPath, request(chatAccount.model, kb<<10, false))
		})
	}
}

func BenchmarkWholeStream(b *testing.B) {
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5.5","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}` + "\n\n"
	stream := strings.Repeat(chunk, 200) + `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	benchmark(b, chatAccount, canned{"text/event-stream", []byte(stream)}, chatPath, request(chatAccount.model, 1<<10, true))
}
