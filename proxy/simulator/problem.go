package simulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// problem is a refusal in no dialect.
type problem struct {
	status  int
	kind    string // error.type
	code    string // "" = null
	param   string // "" = null
	message string
	more    map[string]any   // further members of the error object
	details []map[string]any // Google's
	header  http.Header
	excused bool   // a correct client may meet it
	body    []byte // the whole body, where it is not the dialect's envelope: HTML, or another shape; nil = the envelope
}

// bodyOf writes the refusal's body in the dialect.
func (d *dialect) bodyOf(p *problem, st stamp) []byte {
	if p.body != nil {
		return p.body
	}
	return d.problem(p, st)
}

// contentType is what the body says it is.
func (p *problem) contentType() string {
	if bytes.HasPrefix(p.body, []byte("<")) {
		return "text/html; charset=UTF-8"
	}
	return cmp.Or(p.header.Get("Content-Type"), "application/json")
}

// invalid is a request that the provider refuses for what it says.
func invalid(param, code, message string) *problem {
	return &problem{status: http.StatusBadRequest, kind: "invalid_request_error", param: param, code: code, message: message}
}

// forModel is the refusal of a call for the model, for which {model} stands.
func (p problem) forModel(model string) problem {
	p.message = forModel(p.message, model)
	if len(p.details) > 0 {
		text := forModel(string(encode(p.details)), model)
		p.details = nil
		_ = json.Unmarshal([]byte(text), &p.details) // it is the JSON from above
	}
	return p
}

func forModel(text, model string) string { return strings.ReplaceAll(text, "{model}", model) }
