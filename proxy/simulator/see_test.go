package simulator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
)

const sentence = `This is a simulated answer from account "a", model "gpt-5.5": no real model was called.`

// seen tells in a line what a client saw: the status, the kind of the body, what of the answer was in it, and how it ended.
func seen(resp *http.Response, body []byte, err error) string {
	if resp == nil {
		return "no answer: " + ending(err)
	}
	words := []string{fmt.Sprint(resp.StatusCode), kindOf(resp.Header.Get("Content-Type"))}
	if resp.Uncompressed {
		words = append(words, "gunzipped")
	}
	words = append(words, contents(body)...)
	return strings.Join(words, " ") + ", " + ending(err)
}

func kindOf(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	switch media {
	case "text/event-stream":
		return "stream"
	case "application/json":
		return "json"
	case "text/html":
		return "html"
	case "":
		return "untyped"
	}
	return media
}

func ending(err error) string {
	switch {
	case err == nil:
		return "end"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case strings.Contains(err.Error(), "response headers exceeded"):
		return "head too large"
	case strings.Contains(err.Error(), "transport connection broken"):
		return "broken head"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected EOF"
	case errors.Is(err, io.EOF):
		return "EOF"
	}
	return err.Error()
}

// completion is what the tests read of an answer, whole or a chunk.
type completion struct {
	Choices []struct {
		Message, Delta struct {
			Content   string `json:"content"`
			ToolCalls []struct {
				ID       any `json:"id"`
				Index    int `json:"index"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
	Error *struct {
		Type string `json:"type"`
		Code string `json:"code"`
	} `json:"error"`
}

// dataLines are the data lines of a stream, without their field name.
func dataLines(body []byte) [][]byte {
	var data [][]byte
	for line := range bytes.Lines(body) {
		if text, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(text, []byte(" ")))
		}
	}
	return data
}

// contents tells what of an answer is in the body, in words.
func contents(body []byte) []string {
	if len(body) == 0 {
		return []string{"empty"}
	}
	words, text, arguments := []string(nil), "", ""
	var finish, usage, failure, done bool
	read := func(data []byte) bool {
		var c completion
		if json.Unmarshal(data, &c) != nil {
			return false
		}
		for _, choice := range c.Choices {
			text += choice.Message.Content + choice.Delta.Content
			for _, call := range append(choice.Message.ToolCalls, choice.Delta.ToolCalls...) {
				arguments += call.Function.Arguments
			}
			finish = finish || choice.FinishReason != ""
		}
		usage, failure = usage || c.Usage != nil, failure || c.Error != nil
		return true
	}
	switch lines := dataLines(body); {
	case len(lines) > 0:
		for _, data := range lines {
			done = done || string(data) == "[DONE]"
			read(data)
		}
	case !read(body):
		words = append(words, "other")
	}
	words = append(words, extent("text", text, strings.HasSuffix(text, sentence) || strings.HasPrefix(text, "simulated_") && len(text) > 4e6))
	words = append(words, extent("arguments", arguments, json.Valid([]byte(arguments)) || strings.HasSuffix(arguments, "2}")))
	for _, mark := range []struct {
		there bool
		word  string
	}{{finish, "finish"}, {usage, "usage"}, {done, "done"}, {failure, "error"}} {
		if mark.there {
			words = append(words, mark.word)
		}
	}
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return kept
}

func extent(word, got string, whole bool) string {
	switch {
	case got == "":
		return ""
	case whole:
		return word
	}
	return "part-" + word
}

// regexpFor is the beginning of an answer's JSON.
func regexpFor(object string) *regexp.Regexp {
	return regexp.MustCompile(`\{"id":"chatcmpl-simulated000001","object":"` + regexp.QuoteMeta(object) + `","created":[0-9]{9,10},"model":"gpt-5\.5",`)
}
