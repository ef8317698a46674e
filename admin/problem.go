package admin

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// problem is an answer that says what went wrong, as RFC 9457 has it. It holds nothing a client may not see.
type problem struct {
	Type     string `json:"type"` // urn:hermes-hub:problem:<name>, stable: programs may rely on it
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"` // the request id
}

func (p *problem) Error() string { return p.Detail }

// newProblem names the kind of problem; the title is that of the status.
func newProblem(status int, name, detail string) *problem {
	return &problem{Type: "urn:hermes-hub:problem:" + name, Title: http.StatusText(status), Status: status, Detail: detail}
}

// write answers with p. Its instance is the request id, which the rim has put into the header already.
func (p *problem) write(w http.ResponseWriter) {
	answer := *p
	answer.Instance = w.Header().Get(requestIDHeader)
	body, _ := json.Marshal(answer) // strings and a number: cannot fail
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n')) // a client that is gone has no use for an error
}

// writeJSON answers 200, or the status given, with v. It is encoded before anything is written: a value that cannot be
// encoded is an error and no half answer.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // as in problem.write
	return nil
}
