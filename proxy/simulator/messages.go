package simulator

import (
	"cmp"
	"net/http"
	"strings"
	"time"
)

// messages is Anthropic's Messages, as https://docs.claude.com/en/api/messages describes it and as its refusals were
// recorded. Reasoning is said where the request enables thinking. The steps mean in it: the last word is message_stop,
// the finish reason message_delta.
var messages = dialect{
	protocol:  Messages,
	key:       func(in inbound) string { return cmp.Or(in.header.Get("X-Api-Key"), bearer(in.header)) },
	wants:     messagesHead,
	parse:     parseMessages,
	whole:     messagesWhole,
	events:    messagesEvents,
	noop:      func(Request, stamp) event { return messagesPing() },
	count:     messagesCount,
	sameIndex: sameBlockIndex,
	idHeader:  "Request-Id",
	problem:   messagesProblem,
	failure: func(_ Request, p *problem, _ stamp, _ int) event {
		return event{kind: eventOther, wire: namedFrame("error", encode(messagesError{Type: "error", Error: messagesFault{Type: p.kind, Message: p.message}}))}
	},
	models:   messagesModels,
	model:    func(model string, since time.Time) []byte { return encode(messagesModelObject(model, since)) },
	recorded: messagesRecorded,
	tells:    messagesTells,
	spent:    messagesSpent,
	wording:  messagesWording,
}

// betaOAuth is the beta without which no OAuth token is taken.
const betaOAuth = "oauth-2025-04-20"

// messagesHead reviews the head of a call. A key of the API begins with sk-ant-api, and travels either way; every other
// bearer is an OAuth token.
func messagesHead(in inbound) *problem {
	token := bearer(in.header)
	oauth := in.header.Get("X-Api-Key") == "" && token != "" && !strings.HasPrefix(token, "sk-ant-api")
	switch {
	case oauth && !hasBeta(in.header, betaOAuth):
		return &problem{status: http.StatusUnauthorized, kind: "authentication_error", message: "OAuth authentication is currently not supported."}
	case in.header.Get("Anthropic-Version") == "":
		return invalidMessages("anthropic-version: header is required")
	}
	return nil
}

// betas are the values of all anthropic-beta headers.
func betas(h http.Header) []string {
	return strings.FieldsFunc(strings.Join(h.Values("Anthropic-Beta"), ","), func(r rune) bool { return r == ',' || r == ' ' })
}

// hasBeta reports whether a beta begins with the word.
func hasBeta(h http.Header, word string) bool {
	for _, beta := range betas(h) {
		if strings.HasPrefix(beta, word) {
			return true
		}
	}
	return false
}

type messagesError struct {
	Type      string        `json:"type"`
	Error     messagesFault `json:"error"`
	RequestID string        `json:"request_id,omitempty"`
}

type messagesFault struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func messagesProblem(p *problem, st stamp) []byte {
	return encode(messagesError{Type: "error", Error: messagesFault{Type: p.kind, Message: p.message}, RequestID: requestID(st)})
}

// invalidMessages is a request that Anthropic refuses for what it says.
func invalidMessages(message string) *problem {
	return &problem{status: http.StatusBadRequest, kind: "invalid_request_error", message: message}
}

type messagesModel struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func messagesModelObject(model string, since time.Time) messagesModel {
	return messagesModel{Type: "model", ID: model, DisplayName: model + " (simulated)", CreatedAt: since.UTC().Format(time.RFC3339)}
}

func messagesModels(models []string, since time.Time) []byte {
	list := struct {
		Data    []messagesModel `json:"data"`
		HasMore bool            `json:"has_more"`
		FirstID *string         `json:"first_id"`
		LastID  *string         `json:"last_id"`
	}{Data: []messagesModel{}}
	for _, m := range models {
		list.Data = append(list.Data, messagesModelObject(m, since))
	}
	if len(models) > 0 {
		list.FirstID, list.LastID = &models[0], &models[len(models)-1]
	}
	return encode(list)
}
