package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Ending is how Hermes takes one answer.
type Ending string

// The endings.
const (
	Complete Ending = "complete" // taken for the whole answer
	Partial  Ending = "partial"  // kept as far as it came; the model is asked to go on
	Again    Ending = "again"    // asked for again, up to three times, before anything was shown
	Empty    Ending = "empty"    // nothing at all: asked for again, up to three times
	Raised   Ending = "raised"   // an error for the agent's loop, see Verdict
)

// Call is a tool call that Hermes would run.
type Call struct{ ID, Name, Arguments string }

// Reading is what Hermes got from one answer.
type Reading struct {
	Ending    Ending
	Text      string
	Reasoning string
	Calls     []Call
	Finish    string
	Usage     bool // token counts came
	Model     string
	Verdict   Verdict // of Raised, Again and Partial, when an error came
}

// chunk is the part of a chunk, or of a whole answer, that Hermes reads.
type chunk struct {
	Model   string          `json:"model"`
	LastOne bool            `json:"lastOne"`
	ErrText string          `json:"error_message"`
	Usage   json.RawMessage `json:"usage"`
	Choices []choice        `json:"choices"`
}

type choice struct {
	Delta   delta `json:"delta"`
	Message delta `json:"message"`
	Finish  any   `json:"finish_reason"` // some providers send a number
}

type delta struct {
	Content          string      `json:"content"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        string      `json:"reasoning"`
	ToolCalls        []toolDelta `json:"tool_calls"`
}

type toolDelta struct {
	Index    int `json:"index"`
	ID       any `json:"id"` // some providers send a number
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// ReadHermes reads a chat completion stream as Hermes does (agent/chat_completion_helpers.py), through openai-python's
// decoder. cut is the error that reading the body ended with, nil for a proper end.
//
// A finish reason ends an answer, and so do token counts without one: that is why a truncated stream must carry none.
func ReadHermes(stream []byte, cut error, session Session) Reading {
	chunks, done, err := decodePython(stream)
	a := &accumulator{calls: map[int]*Call{}, slot: map[int]int{}, lastID: map[int]string{}}
	for _, data := range chunks {
		var c chunk
		if json.Unmarshal(data, &c) != nil {
			continue // a chunk of another shape has none of the members that are asked for
		}
		if len(c.Choices) == 0 && c.ErrText != "" {
			return a.failed(&FrameError{Message: c.ErrText, Body: data}, session)
		}
		a.take(&c)
	}
	switch {
	case err != nil:
		return a.failed(err, session)
	case cut != nil && !done:
		return a.failed(cut, session)
	}
	return a.ended()
}

// ReadHermesWhole reads an answer that is not streamed: one without a choice is invalid, and asked for again.
func ReadHermesWhole(body []byte) Reading {
	var c chunk
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		return Reading{Ending: Empty}
	}
	a := &accumulator{calls: map[int]*Call{}, slot: map[int]int{}, lastID: map[int]string{}}
	for i := range c.Choices[0].Message.ToolCalls {
		c.Choices[0].Message.ToolCalls[i].Index = i
	}
	c.Choices[0].Delta = c.Choices[0].Message
	a.take(&c)
	a.Calls = a.listed()
	a.Ending = Complete
	return a.Reading
}

// accumulator puts an answer together from its chunks.
type accumulator struct {
	Reading
	shown   bool // text went to the user: a repetition would show it twice
	lastOne bool
	calls   map[int]*Call // by slot
	slot    map[int]int   // by index on the wire
	lastID  map[int]string
}

func (a *accumulator) take(c *chunk) {
	a.Model = cmp.Or(c.Model, a.Model)
	a.Usage = a.Usage || pythonTrue(c.Usage)
	if len(c.Choices) == 0 {
		a.lastOne = a.lastOne || c.LastOne
		return
	}
	d := &c.Choices[0].Delta
	a.Reasoning += cmp.Or(d.ReasoningContent, d.Reasoning)
	if d.Content != "" {
		a.Text += d.Content
		a.shown = a.shown || len(a.calls) == 0
	}
	for i := range d.ToolCalls {
		a.tool(&d.ToolCalls[i])
	}
	if f := c.Choices[0].Finish; f != nil && f != "" {
		a.Finish = fmt.Sprint(f)
	}
}

// tool puts a piece of a tool call where it belongs: by its index, but a new id under a used index is another call. Names
// are assigned, arguments appended.
func (a *accumulator) tool(t *toolDelta) {
	id := ""
	if t.ID != nil {
		id = fmt.Sprint(t.ID)
	}
	slot, known := a.slot[t.Index]
	if !known {
		slot = t.Index
	}
	if last := a.lastID[t.Index]; id != "" && last != "" && id != last {
		slot = slices.Max(slices.Collect(maps.Keys(a.calls))) + 1
	}
	a.slot[t.Index] = slot
	a.lastID[t.Index] = cmp.Or(id, a.lastID[t.Index])
	call := a.calls[slot]
	if call == nil {
		call = &Call{}
		a.calls[slot] = call
	}
	call.ID = cmp.Or(id, call.ID)
	call.Name = cmp.Or(t.Function.Name, call.Name)
	call.Arguments += t.Function.Arguments
}

// ended judges a stream that ended properly.
func (a *accumulator) ended() Reading {
	r := a.Reading
	r.Calls = a.listed()
	whole := r.Finish != "" || r.Usage || a.lastOne
	torn := slices.ContainsFunc(r.Calls, func(c Call) bool { return !json.Valid([]byte(c.Arguments)) })
	switch {
	case r.Finish == "error" || r.Finish == "error_finish":
		r.Ending, r.Verdict = Raised, Verdict{Reason: Unknown, Retryable: true}
	case r.Finish == "" && r.Text == "" && r.Reasoning == "" && len(r.Calls) == 0:
		r.Ending = Empty
	case !whole, torn:
		r.Ending, r.Calls = Partial, nil
	default:
		r.Ending, r.Finish = Complete, cmp.Or(r.Finish, "stop")
	}
	return r
}

// failed judges a stream that ended in an error: after text it is kept as a part, unless a tool call was under way and the
// error sounds like a lost connection; before any text a lost connection or unreadable data is asked for again.
func (a *accumulator) failed(err error, session Session) Reading {
	r := a.Reading
	lost := true
	switch err := err.(type) { //nolint:errorlint // decodePython returns these as they are
	case *FrameError:
		r.Verdict = ClassifyHermes(0, nil, err.Body, session)
		lost = (&fault{text: strings.ToLower(err.Message)}).has(connectionWords)
	case *DataError:
		r.Verdict = Verdict{Reason: Unknown, Retryable: true}
	default:
		r.Verdict = ClassifyHermesCut(session)
	}
	named := slices.ContainsFunc(a.listed(), func(c Call) bool { return c.Name != "" })
	switch {
	case lost && (!a.shown || named):
		r.Ending = Again
	case a.shown:
		r.Ending = Partial
	default:
		r.Ending = Raised
	}
	return r
}

func (a *accumulator) listed() []Call {
	var calls []Call
	for _, slot := range slices.Sorted(maps.Keys(a.calls)) {
		calls = append(calls, *a.calls[slot])
	}
	return calls
}
