package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/tidwall/gjson"
)

// hermesRecord is a run's status record, the zero one where the server has none.
type hermesRecord struct {
	known  bool
	object json.RawMessage
	status string // Hermes' word
}

// status asks for the run's record. A server that does not know the run is no error.
func (h *Hermes) status(ctx context.Context, within time.Duration, id string) (hermesRecord, error) {
	a, err := h.wire.call(ctx, within, http.MethodGet, "/v1/runs/"+url.PathEscape(id), nil, nil)
	switch {
	case err != nil:
		return hermesRecord{}, hermesUnreachable(ctx, err)
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		return hermesRecord{}, nil
	case a.status != http.StatusOK:
		return hermesRecord{}, hermesRefusal(a, h.now())
	}
	object := bytes.ToValidUTF8(a.body, []byte("\uFFFD"))
	status := gjson.GetBytes(object, "status").Str
	if !json.Valid(object) || status == "" {
		return hermesRecord{}, &Refused{Status: http.StatusBadGateway, Code: "runtime_bad_answer", Message: "The runtime's status record cannot be read."}
	}
	return hermesRecord{true, object, status}, nil
}

// ended reports whether the run is over, as far as the server is concerned.
func (r hermesRecord) ended() bool {
	switch r.status {
	case "completed", "failed", "cancelled", "canceled", "interrupted":
		return true
	}
	return false
}

// updatedAt is when the record changed last, in epoch seconds.
func (r hermesRecord) updatedAt() float64 { return gjson.GetBytes(r.object, "updated_at").Num }
