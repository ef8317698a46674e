package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/quota"
)

// quotaLineLimit is the longest line that `quota read` takes: a large body in base64, and the headers.
const quotaLineLimit = 16 << 20

// quotaExample is what a line of input looks like.
const quotaExample = `{"provider":"openai","status":429,"headers":{},"body":{…},"at":"2026-07-25T12:00:00Z"}`

// quotaQuestion is one line of input of `quota read`: a recorded response.
type quotaQuestion struct {
	ID           *string           `json:"id"`
	Provider     string            `json:"provider"`
	Status       int               `json:"status"`
	Headers      map[string]header `json:"headers"`
	Body         pasted            `json:"body"`
	BodyEncoding string            `json:"body_encoding"`
	At           time.Time         `json:"at"`
}

// header is a value as logs and tools write it: a string, a number, or a list of which the first counts.
type header string

// UnmarshalJSON reads any of these.
func (h *header) UnmarshalJSON(b []byte) error {
	v := gjson.ParseBytes(b)
	if v.IsArray() {
		v = v.Get("0")
	}
	if v.IsObject() {
		return errors.New("a header cannot be a JSON object")
	}
	*h = header(v.String())
	return nil
}

// pasted is a body: a string, or the object itself, as people paste it.
type pasted string

// UnmarshalJSON reads either.
func (p *pasted) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(p))
	}
	if string(b) != "null" {
		*p = pasted(b)
	}
	return nil
}

// quotaAnswer is one line of output; unknown is null.
type quotaAnswer struct {
	ID               *string       `json:"id"`
	Class            quota.Class   `json:"class"`
	Scope            quota.Scope   `json:"scope"`
	Failover         bool          `json:"failover"`
	RetrySameAfterMS *int64        `json:"retry_same_after_ms"`
	ResetAt          *time.Time    `json:"reset_at"`
	Buckets          []quotaBucket `json:"buckets"`
	Source           *quota.Source `json:"source"`
	Reason           *string       `json:"reason"`
}

// quotaBucket is one window of a quotaAnswer.
type quotaBucket struct {
	ID               string     `json:"id"`
	UsedPercent      *float64   `json:"used_percent"`
	RemainingPercent *float64   `json:"remaining_percent"`
	Limit            *float64   `json:"limit"`
	Remaining        *float64   `json:"remaining"`
	ResetAt          *time.Time `json:"reset_at"`
}

// readQuotaLines answers every JSON line of in with one line on out, in order, and counts the lines that could not be
// read; such a line is answered with {"error": …}. pretty writes a verdict to be read by people instead. The error is one
// of reading or writing.
func readQuotaLines(in io.Reader, out io.Writer, pretty bool) (bad int, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), quotaLineLimit)
	w := bufio.NewWriter(out)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for number, line := range questions(lines, pretty) {
		question, err := parseQuotaQuestion(line)
		switch {
		case err != nil:
			bad++
			err = encoder.Encode(struct {
				Error string `json:"error"`
			}{fmt.Sprintf("line %d: %v", number, err)})
		case pretty:
			_, err = io.WriteString(w, prettyReading(question, quota.Read(question.response())))
		default:
			err = encoder.Encode(newQuotaAnswer(question, quota.Read(question.response())))
		}
		if err != nil {
			return bad, fmt.Errorf("write quota reading: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return bad, errors.Join(fmt.Errorf("read quota lines: %w", err), w.Flush())
	}
	return bad, w.Flush()
}

// questions yields the lines that hold something, with their numbers. pasted joins the lines of an object that is spread
// over several, as people paste it; a whole object that is not indented ends one that is not.
func questions(lines *bufio.Scanner, pasted bool) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		var open []byte // an object that has not ended
		first := 0
		for number := 1; lines.Scan(); number++ {
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			whole := gjson.ValidBytes(line)
			if len(open) > 0 && !(whole && lines.Bytes()[0] == '{') {
				open = append(append(open, '\n'), line...)
				if gjson.ValidBytes(open) {
					if !yield(first, open) {
						return
					}
					open = nil
				}
				continue
			}
			if len(open) > 0 && !yield(first, open) {
				return
			}
			open = nil
			if pasted && !whole && line[0] == '{' {
				open, first = bytes.Clone(line), number
			} else if !yield(number, line) {
				return
			}
		}
		if len(open) > 0 {
			yield(first, open)
		}
	}
}

// parseQuotaQuestion reads one line of input.
func parseQuotaQuestion(line []byte) (quotaQuestion, error) {
	var q quotaQuestion
	if line[0] != '{' {
		return q, errors.New("a line is a JSON object; wrap what was received: " + quotaExample)
	}
	if err := json.Unmarshal(line, &q); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return q, fmt.Errorf("%s cannot be a JSON %s", cmp.Or(wrong.Field, "a line"), wrong.Value)
		}
		return q, err
	}
	switch q.BodyEncoding {
	case "":
	case "base64":
		body, err := base64.StdEncoding.DecodeString(string(q.Body))
		if err != nil {
			return q, fmt.Errorf("body: %w", err)
		}
		q.Body = pasted(body)
	default:
		return q, fmt.Errorf(`body_encoding %q is not known; leave it out or use "base64"`, q.BodyEncoding)
	}
	if q.Status == 0 && q.Provider == "" {
		return q, errors.New("a body alone does not say whose it is; wrap it: " + quotaExample)
	}
	if q.Status < 100 || q.Status > 999 {
		return q, fmt.Errorf("status %d is not an HTTP status", q.Status)
	}
	if q.At.IsZero() {
		return q, errors.New("at is missing: times cannot be told without the instant of the response (RFC 3339)")
	}
	return q, nil
}

func (q quotaQuestion) response() quota.Response {
	header := make(http.Header, len(q.Headers))
	for name, value := range q.Headers {
		header.Set(name, string(value))
	}
	return quota.Response{Provider: q.Provider, Status: q.Status, Header: header, Body: []byte(q.Body), At: q.At}
}

func newQuotaAnswer(q quotaQuestion, r quota.Reading) quotaAnswer {
	answer := quotaAnswer{
		ID: q.ID, Class: r.Class, Scope: r.Scope, Failover: r.Failover, ResetAt: knownTime(r.ResetAt),
		Buckets: make([]quotaBucket, 0, len(r.Buckets)), Source: knownString(r.Source), Reason: knownString(r.Reason),
	}
	if r.RetryAfter > 0 || r.RetryNow {
		ms := r.RetryAfter.Milliseconds()
		answer.RetrySameAfterMS = &ms
	}
	for _, b := range r.Buckets {
		answer.Buckets = append(answer.Buckets, quotaBucket{
			ID: b.ID, UsedPercent: knownNumber(b.UsedPercent), RemainingPercent: knownNumber(b.RemainingPercent),
			Limit: knownNumber(b.Limit), Remaining: knownNumber(b.Remaining), ResetAt: knownTime(b.ResetAt),
		})
	}
	return answer
}

// knownTime, knownString and knownNumber are nil for unknown, so that JSON says null.
func knownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func knownString[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

func knownNumber(n quota.Number) *float64 {
	if !n.Known {
		return nil
	}
	return &n.Value
}
