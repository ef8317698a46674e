package runtime

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// hermesBody is what an order's body is to the server: every member as it came, byte for byte, but for `runtime`, which is
// the hub's. The WebUI's runner dialect says `message` where Hermes says `input`. A session that the hub knows from
// elsewhere is named.
func hermesBody(o Order) ([]byte, error) {
	if !gjson.ValidBytes(o.Body) || !gjson.ParseBytes(o.Body).IsObject() {
		return nil, &Refused{Status: http.StatusBadRequest, Code: "invalid_request", Message: "The body must be a JSON object."}
	}
	body, _ := sjson.DeleteBytes(o.Body, "runtime") // these fail for empty names only
	message := gjson.GetBytes(body, "message")
	if message.Exists() && !gjson.GetBytes(body, "input").Exists() {
		raw := message.Raw
		body, _ = sjson.DeleteBytes(body, "message")
		body, _ = sjson.SetRawBytes(body, "input", []byte(raw))
	}
	if o.SessionID != "" && gjson.GetBytes(body, "session_id").Str == "" {
		body, _ = sjson.SetBytes(body, "session_id", o.SessionID)
	}
	return body, nil
}

// Headers of Hermes.
const (
	hermesSessionID  = "X-Hermes-Session-Id"
	hermesSessionKey = "X-Hermes-Session-Key"
)

// hermesHeader is what goes with the order.
func hermesHeader(runID string, o Order, body []byte) http.Header {
	h := http.Header{"Idempotency-Key": {runID}, "Accept": {"application/json"}}
	if sid := gjson.GetBytes(body, "session_id").Str; visible(sid) {
		h.Set(hermesSessionID, sid)
	}
	if key := o.Header.Get(hermesSessionKey); visible(key) {
		h.Set(hermesSessionKey, key)
	}
	return h
}

// visible reports whether a text can be a header of Hermes: 1 to 256 visible ASCII characters.
func visible(s string) bool {
	return s != "" && len(s) <= 256 && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e })
}
