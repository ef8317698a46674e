package runs

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
)

// Told is an event as somebody outside names it: in Hermes' words, by a family of ours, or in the WebUI's words, whichever
// knows the name first. object has the event's members; "" stands for none.
//
// What belongs to the journal is refused, and run.started becomes a status: whose the run is, and what was asked for, is
// not the runtime's to say.
func Told(name string, object json.RawMessage) (Raw, error) {
	if len(object) == 0 {
		object = json.RawMessage("{}")
	}
	t := Type(name)
	if t == TypeGap || t == TypeTruncated {
		return Raw{}, fmt.Errorf("%w: %s is the journal's own", ErrUnknownWord, t)
	}
	if Hermes.family(name) != "" {
		return Hermes.Read(name, object)
	}
	if _, known := families[t]; !known {
		return WebUI.Read(name, object)
	}
	if !json.Valid(object) || !gjson.ParseBytes(object).IsObject() {
		return Raw{}, fmt.Errorf("%w: %s", ErrBadPayload, t)
	}
	if t == TypeStarted {
		t = TypeStatus
	}
	return Raw{t, object}, nil
}
