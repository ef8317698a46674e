package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// openAI is OpenAI's chat completions.
var openAI = dialect{
	path:    "/chat/completions",
	key:     bearer,
	parse:   parseChat,
	whole:   chatWhole,
	events:  chatEvents,
	noop:    chatNoop,
	problem: chatProblem,
	failure: chatFailure,
	models:  openAIModels,
	model:   openAIModel,
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
func chatProblem(p *problem) []byte {
	text := encode(struct {
		Error openAIError `json:"error"`
	}{openAIError{Message: p.message, Type: p.kind, Param: orNull(p.param), Code: orNull(p.code)}})
	if len(p.more) == 0 {
		return text
	}
	more := encode(p.more)
	return fmt.Appendf(nil, "%s,%s}", bytes.TrimSuffix(text, []byte("}}")), more[1:])
}

func chatFailure(p *problem) event {
	return event{kind: eventOther, wire: frame(chatProblem(p))}
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
