package simulator

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// responses is OpenAI's Responses, as https://platform.openai.com/docs/api-reference/responses describes it and as its
// refusals were recorded. Reasoning is said unless the request's effort is none, its summary and its encrypted content where the
// request asks for them. The steps mean in it: the last word and the finish reason are one event, response.completed or response.incomplete; an
// error before everything else is an error event, a later one is response.failed.
var responses = dialect{
	protocol:  Responses,
	key:       func(in inbound) string { return bearer(in.header) },
	parse:     parseResponses,
	whole:     responsesWhole,
	events:    responsesEvents,
	noop:      responsesNoop,
	sameIndex: sameOutputIndex,
	idHeader:  "X-Request-Id",
	problem:   chatProblem,
	failure:   responsesFailure,
	models:    openAIModels,
	model:     openAIModel,
	recorded:  responsesRecorded,
	tells:     Quota.header,
	spent:     func(q Quota, w window, to told) *problem { return q.refusal(w, to.model, to.now) },
	wording:   openAIWording,
}

// responsesRecorded are refusals that OpenAI words otherwise here than in chat completions.
var responsesRecorded = map[StepName]problem{
	BadRequest:     {status: 400, kind: "invalid_request_error", param: "temperature", message: "Unsupported parameter: 'temperature' is not supported with this model."},
	ContextTooLong: {status: 400, kind: "invalid_request_error", param: "input", code: "context_length_exceeded", message: "Your input exceeds the context window of this model. Please adjust your input and try again."},
	ContentPolicy:  {status: 400, kind: "invalid_request_error", code: "invalid_prompt", message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting"},
}

// codex is ChatGPT's Codex backend: Responses for a subscription, streams only, and less of it than the API takes
// (openai/codex 26173, kortix-ai/suna 5124). What it refuses itself it says as {"detail":…}; the output of its last event
// is empty.
var codex = func() dialect {
	d := responses
	d.wants = codexHead
	d.problem = codexProblem
	d.models = codexModels
	d.recorded = maps.Clone(responsesRecorded)
	maps.Copy(d.recorded, codexRecorded)
	d.tells = func(q Quota, w window, now time.Time) http.Header { return q.subscription().header(w, now) }
	d.spent = func(q Quota, w window, to told) *problem { return q.subscription().refusal(w, to.model, to.now) }
	d.badKey = func(string) *problem {
		p := codexRecorded[Unauthorized]
		p.excused = true
		return &p
	}
	d.expired = func() *problem {
		return &problem{
			excused: true, status: http.StatusUnauthorized, message: "token expired",
			body: []byte(`{"detail":{"message":"Your authentication token has expired. Please try signing in again.","code":"token_expired"}}`),
		}
	}
	d.noModel = func(model string) *problem {
		p := codexDetail("The '" + model + "' model is not supported when using Codex with a ChatGPT account.")
		p.excused = true
		return p
	}
	return d
}()

// codexRecorded are refusals of the Codex backend (CLIProxyAPI 3654, openai/codex 8516 and codex-rs).
var codexRecorded = map[StepName]problem{
	BadRequest:       *codexDetail("Unsupported parameter: max_output_tokens"),
	Unauthorized:     {status: 401, kind: "invalid_request_error", code: "token_invalidated", message: "Your authentication token has been invalidated. Please try signing in again."},
	PaymentRequired:  {status: 402, message: "deactivated workspace", body: []byte(`{"detail":{"code":"deactivated_workspace"}}`)},
	ServerErrorAs429: {status: 429, kind: "server_error", message: "Our servers are currently overloaded. Please try again later."},
	Overloaded:       {status: 503, code: "server_is_overloaded", message: "Our servers are currently overloaded. Please try again later."},
}

// kindDetail marks a refusal that is told as {"detail":…}.
const kindDetail = "detail"

func codexDetail(message string) *problem {
	return &problem{status: http.StatusBadRequest, kind: kindDetail, message: message}
}

func codexProblem(p *problem, st stamp) []byte {
	if p.kind == kindDetail {
		return encode(map[string]string{"detail": p.message})
	}
	return chatProblem(p, st)
}

// codexHead reviews the head of a call.
func codexHead(in inbound) *problem {
	id := in.header.Get("Chatgpt-Account-Id")
	if id == "" || in.account.ChatGPTAccount != "" && in.account.ChatGPTAccount != id {
		p := codexDetail("Unauthorized")
		p.status = http.StatusUnauthorized
		return p
	}
	return nil
}

// subscription is the quota as a subscription tells it.
func (q Quota) subscription() Quota {
	switch q.Style {
	case QuotaRate:
		q.Style = QuotaSubscription
	case QuotaProse:
		q.Style = QuotaSubscriptionBody
	}
	return q
}

// responsesFailure is a refusal inside a stream: an error event at its beginning, response.failed later.
func responsesFailure(req Request, p *problem, st stamp, after int) event {
	fault := map[string]any{"message": p.message}
	maps.Copy(fault, p.more)
	s := newResponsesStream(req, st)
	s.sequence = after
	if after > 0 {
		fault["code"] = codeOr(p)
		failed := s.response
		failed.Status, failed.Error = "failed", fault
		s.add(eventOther, responsesEvent{Type: "response.failed", Response: &failed})
		return s.events[0]
	}
	fault["type"], fault["code"], fault["param"] = p.kind, orNull(p.code), orNull(p.param)
	s.add(eventOther, responsesEvent{Type: "error", Error: fault})
	return s.events[0]
}

func codeOr(p *problem) string {
	if p.code != "" {
		return p.code
	}
	return p.kind
}

// sameOutputIndex puts the second item under the index of the first.
func sameOutputIndex(wire []byte) []byte {
	return bytes.Replace(wire, []byte(`"output_index":1`), []byte(`"output_index":0`), 1)
}

// responsesEcho are members of a request that its answer repeats.
type responsesEcho struct {
	Instructions json.RawMessage `json:"instructions"`
	MaxOutput    json.RawMessage `json:"max_output_tokens"`
	Parallel     json.RawMessage `json:"parallel_tool_calls"`
	Previous     json.RawMessage `json:"previous_response_id"`
	Reasoning    json.RawMessage `json:"reasoning"`
	Store        json.RawMessage `json:"store"`
	Temperature  json.RawMessage `json:"temperature"`
	Text         json.RawMessage `json:"text"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Tools        json.RawMessage `json:"tools"`
	TopP         json.RawMessage `json:"top_p"`
	Truncation   json.RawMessage `json:"truncation"`
	User         json.RawMessage `json:"user"`
	Metadata     json.RawMessage `json:"metadata"`
}
