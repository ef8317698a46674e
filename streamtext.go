package main

import (
	"strings"

	"github.com/tidwall/gjson"
)

// streamText is the text of a streamed chat completion.
func streamText(body []byte) string {
	var text strings.Builder
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			text.WriteString(gjson.Get(data, "choices.0.delta.content").String())
		}
	}
	return text.String()
}
