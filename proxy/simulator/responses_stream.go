package simulator

// responsesEvent is one event of a stream.
type responsesEvent struct {
	Type         string           `json:"type"`
	Sequence     int              `json:"sequence_number"`
	Response     *responsesObject `json:"response,omitempty"`
	ItemID       string           `json:"item_id,omitempty"`
	OutputIndex  *int             `json:"output_index,omitempty"`
	ContentIndex *int             `json:"content_index,omitempty"`
	SummaryIndex *int             `json:"summary_index,omitempty"`
	Item         any              `json:"item,omitempty"`
	Part         *responsesPart   `json:"part,omitempty"`
	Delta        *string          `json:"delta,omitempty"`
	Text         *string          `json:"text,omitempty"`
	Arguments    *string          `json:"arguments,omitempty"`
	Logprobs     *[]struct{}      `json:"logprobs,omitempty"`
	Error        any              `json:"error,omitempty"`
}

// responsesStream writes the events of one stream. Their numbers leave no gap.
type responsesStream struct {
	response responsesObject
	events   []event
	sequence int
	index    int // of the item
}

func newResponsesStream(req Request, st stamp) *responsesStream {
	return &responsesStream{response: responsesOpen(req, st)}
}

func (s *responsesStream) add(kind eventKind, e responsesEvent) {
	e.Sequence = s.sequence
	s.sequence++
	s.events = append(s.events, event{kind: kind, wire: namedFrame(e.Type, encode(e))})
}

// item adds the begin or the end of an item.
func (s *responsesStream) item(kind eventKind, what string, item any) {
	i := s.index
	s.add(kind, responsesEvent{Type: "response.output_item." + what, OutputIndex: &i, Item: item})
}

// at is an event of the item that is being said.
func (s *responsesStream) at(id, what string) responsesEvent {
	i := s.index
	return responsesEvent{Type: "response." + what, ItemID: id, OutputIndex: &i}
}

// responsesEvents writes the answer as a stream, a word an event.
func responsesEvents(req Request, ans Answer, st stamp) []event {
	s := newResponsesStream(req, st)
	opening := s.response
	s.add(eventOpening, responsesEvent{Type: "response.created", Response: &opening})
	s.add(eventOpening, responsesEvent{Type: "response.in_progress", Response: &opening})
	done := responsesDone(req, ans, st)
	for _, item := range done.Output {
		switch item := item.(type) {
		case responsesReasoning:
			s.reasoning(item)
		case responsesMessage:
			s.message(item)
		case responsesCall:
			s.call(item)
		}
		s.index++
	}
	if req.codex {
		done.Output = []any{}
	}
	s.add(eventDone, responsesEvent{Type: "response." + done.Status, Response: &done})
	return s.events
}

func (s *responsesStream) reasoning(item responsesReasoning) {
	begun := item
	begun.Summary = []responsesPart{}
	s.item(eventOther, "added", begun)
	for i, part := range item.Summary {
		say := func(kind eventKind, what string, fill func(*responsesEvent)) {
			e := s.at(item.ID, "reasoning_summary_"+what)
			e.SummaryIndex = &i
			fill(&e)
			s.add(kind, e)
		}
		say(eventOther, "part.added", func(e *responsesEvent) { e.Part = &responsesPart{Type: part.Type} })
		for _, word := range words(part.Text) {
			say(eventContent, "text.delta", func(e *responsesEvent) { e.Delta = &word })
		}
		say(eventOther, "text.done", func(e *responsesEvent) { e.Text = &part.Text })
		say(eventOther, "part.done", func(e *responsesEvent) { e.Part = &part })
	}
	s.item(eventOther, "done", item)
}

func (s *responsesStream) message(item responsesMessage) {
	begun := item
	begun.Status, begun.Content = "in_progress", []responsesPart{}
	s.item(eventOther, "added", begun)
	for i, part := range item.Content {
		say := func(kind eventKind, what string, fill func(*responsesEvent)) {
			e := s.at(item.ID, what)
			e.ContentIndex = &i
			fill(&e)
			s.add(kind, e)
		}
		say(eventOther, "content_part.added", func(e *responsesEvent) { e.Part = &responsesPart{Type: part.Type} })
		for _, word := range words(part.Text) {
			say(eventContent, "output_text.delta", func(e *responsesEvent) { e.Delta, e.Logprobs = &word, &[]struct{}{} })
		}
		say(eventOther, "output_text.done", func(e *responsesEvent) { e.Text, e.Logprobs = &part.Text, &[]struct{}{} })
		say(eventOther, "content_part.done", func(e *responsesEvent) { e.Part = &part })
	}
	s.item(eventOther, "done", item)
}

func (s *responsesStream) call(item responsesCall) {
	begun := item
	begun.Status, begun.Arguments = "in_progress", ""
	s.item(eventTool, "added", begun)
	for _, piece := range halves(item.Arguments) {
		e := s.at(item.ID, "function_call_arguments.delta")
		e.Delta = &piece
		s.add(eventTool, e)
	}
	e := s.at(item.ID, "function_call_arguments.done")
	e.Arguments = &item.Arguments
	s.add(eventOther, e)
	s.item(eventOther, "done", item)
}

func responsesNoop(req Request, st stamp) event {
	s := newResponsesStream(req, st)
	s.add(eventOther, responsesEvent{Type: "response.in_progress", Response: &s.response})
	return s.events[0]
}
