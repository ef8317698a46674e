package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// model is the one model there is.
const model = "gpt-load"

// ask is what one request wants of the upstream. It travels in the prompt: nothing else of a request comes unchanged
// through every target.
type ask struct {
	size   int           // bytes of text in the prompt, a multiple of lineSize
	chunks int           // pieces of content in the streamed answer; 0 = one JSON object
	pace   time.Duration // between them, in milliseconds; 0 = as fast as they can be written
	held   bool          // after the first piece the upstream waits to be told to go on
}

// call is one request. Its text and the text of its answer depend on the number, so that bytes of one request that turn
// up in another are seen.
type call struct {
	ask
	number int
}

const (
	lineSize   = 64
	lineCount  = 4096
	answerSize = 12 * lineSize // of the text in an answer that is not streamed: about 1 KB with what is around it
)

// book is the text that prompts and answers are pages of, as it stands in JSON: lines that are all different, each ending
// in an escaped line feed, as the prompts of agents do.
var book = lines()

func lines() []byte {
	b := make([]byte, 0, lineSize*lineCount)
	for i := range lineCount {
		b = fmt.Appendf(b, `line %04d of the text that prompts and answers are pages of...\n`, i)
	}
	return b
}

// page is size bytes of the book, beginning at a line that depends on the number.
func page(number, size int) []byte {
	from := number % (lineCount - size/lineSize) * lineSize
	return book[from : from+size]
}

const promptStart = `"messages":[{"role":"user","content":"load `

// appendPrompt appends the member "messages".
func (c call) appendPrompt(b []byte) []byte {
	b = append(b, promptStart...)
	b = c.appendText(b)
	return append(b, `"}]`...)
}

// appendText appends the prompt's text behind its first word.
func (c call) appendText(b []byte) []byte {
	b = fmt.Appendf(b, `%d %d %d %d %t\n`, c.number, c.size, c.chunks, c.pace.Milliseconds(), c.held)
	return append(b, page(c.number, c.size)...)
}

// appendBody appends the request's body. What routes it stands last, where a reader has to look for it.
func (c call) appendBody(b []byte) []byte {
	b = append(b, '{')
	b = c.appendPrompt(b)
	return fmt.Appendf(b, `,"stream":%t,"model":"`+model+`"}`, c.chunks > 0)
}

// received is a call as it came to the upstream.
type received struct {
	call
	usage   bool // the stream is asked for its usage
	foreign bool // it came in Anthropic's protocol
}

// readCall reads a body at the upstream and verifies every byte of the prompt. What stands around the prompt may have been
// edited on the way, but must be the request's still.
func readCall(body []byte) (received, error) {
	at := bytes.Index(body, []byte(promptStart))
	if at < 0 {
		return received{}, errors.New("request without the prompt")
	}
	c, err := readPrompt(body[at+len(promptStart):])
	if err != nil {
		return received{}, err
	}
	want := c.appendPrompt(nil)
	if err := differ("prompt", body[at:min(len(body), at+len(want))], want); err != nil {
		return received{}, err
	}
	var around struct {
		Model         string
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []any
	}
	rest := string(body[:at]) + `"messages":[]` + string(body[at+len(want):])
	if err := json.Unmarshal([]byte(rest), &around); err != nil {
		return received{}, fmt.Errorf("read around the prompt: %w", err)
	}
	if around.Model != model || around.Stream != (c.chunks > 0) {
		return received{}, fmt.Errorf("request for model %q, stream %t instead of %q, %t", around.Model, around.Stream, model, c.chunks > 0)
	}
	return received{call: c, usage: around.StreamOptions.IncludeUsage}, nil
}

// readPrompt reads the numbers in a prompt's first line.
func readPrompt(prompt []byte) (call, error) {
	first, _, ok := strings.Cut(string(prompt[:min(len(prompt), 100)]), `\n`)
	fields := strings.Fields(first)
	if !ok || len(fields) != 5 {
		return call{}, errors.New("prompt without its first line")
	}
	var n [4]int
	for i := range n {
		v, err := strconv.Atoi(fields[i])
		if err != nil || v < 0 {
			return call{}, fmt.Errorf("prompt's first line has %q for a number", fields[i])
		}
		n[i] = v
	}
	if n[1]%lineSize != 0 || n[1] >= len(book) {
		return call{}, fmt.Errorf("prompt of %d bytes cannot be", n[1])
	}
	a := ask{size: n[1], chunks: n[2], pace: time.Duration(n[3]) * time.Millisecond, held: fields[4] == "true"}
	return call{a, n[0]}, nil
}

// differ says where got begins to be something else than want; nil when they are the same.
func differ(what string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	return fmt.Errorf("%s of %d bytes instead of %d, different from byte %d: %q", what, len(got), len(want), at, got[at:min(len(got), at+60)])
}
