package simulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// openAI is OpenAI's chat completions.
var openAI = dialect{
	protocol:  Chat,
	key:       func(in inbound) string { return cmp.Or(bearer(in.header), in.header.Get("Api-Key")) },
	parse:     func(in inbound) (Request, *problem) { return parseChat(in.body) },
	whole:     chatWhole,
	events:    chatEvents,
	noop:      chatNoop,
	sameIndex: sameChatIndex,
	idHeader:  "X-Request-Id",
	problem:   chatProblem,
	failure:   chatFailure,
	models:    openAIModels,
	model:     openAIModel,
	recorded:  recorded,
	tells:     Quota.header,
	spent:     func(q Quota, w window, to told) *problem { return q.refusal(w, to.model, to.now) },
	wording:   openAIWording,
}

// bearer is the key of an Authorization header, "" when there is none.
func bearer(h http.Header) string {
	scheme, key, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// openAIError is OpenAI's error object: code and param are null when they are unknown.
type openAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// chatProblem writes {"error":{…}}. The further members of a problem follow the known ones.
func chatProblem(p *problem, _ stamp) []byte {
	text := encode(struct {
		Error openAIError `json:"error"`
	}{openAIError{Message: p.message, Type: p.kind, Param: orNull(p.param), Code: orNull(p.code)}})
	if len(p.more) == 0 {
		return text
	}
	more := encode(p.more)
	return fmt.Appendf(nil, "%s,%s}", bytes.TrimSuffix(text, []byte("}}")), more[1:])
}

func chatFailure(_ Request, p *problem, st stamp, _ int) event {
	return event{kind: eventOther, wire: frame(chatProblem(p, st))}
}

// sameChatIndex is what some OpenAI-compatible servers do.
func sameChatIndex(wire []byte) []byte {
	return bytes.Replace(wire, []byte(`"tool_calls":[{"index":1`), []byte(`"tool_calls":[{"index":0`), 1)
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type openAIModelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelObject(model string, since time.Time) openAIModelObject {
	return openAIModelObject{ID: model, Object: "model", Created: since.Unix(), OwnedBy: "simulated"}
}

func openAIModel(model string, since time.Time) []byte { return encode(modelObject(model, since)) }

func openAIModels(models []string, since time.Time) []byte {
	list := struct {
		Object string              `json:"object"`
		Data   []openAIModelObject `json:"data"`
	}{Object: "list", Data: []openAIModelObject{}}
	for _, m := range models {
		list.Data = append(list.Data, modelObject(m, since))
	}
	return encode(list)
}

// encode is json.Marshal without the escaping that is meant for HTML, for values that cannot fail.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("simulator: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// frame is one event of a stream as server-sent events have it.
func frame(data []byte) []byte { return fmt.Appendf(nil, "data: %s\n\n", data) }

// namedFrame is one event with a name.
func namedFrame(name string, data []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
}
