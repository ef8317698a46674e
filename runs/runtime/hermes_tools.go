package runtime

import (
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// hermesTools pairs the beginnings and the ends of tools, for which Hermes has no ids: an end is that of the tool of its
// name that began first. The ids that it makes tell when the tool began, which keeps them apart from a former process's.
type hermesTools struct {
	begun int
	open  map[string][]string
}

func (t *hermesTools) started(object []byte, now time.Time) []byte {
	if gjson.GetBytes(object, "tool_call_id").Str != "" {
		return object
	}
	if t.open == nil {
		t.open = map[string][]string{}
	}
	t.begun++
	id := "tool-" + strconv.FormatInt(now.UnixMicro(), 36) + "-" + strconv.Itoa(t.begun)
	name := gjson.GetBytes(object, "name").Str
	t.open[name] = append(t.open[name], id)
	object = with(object, "tool_call_id", id)
	if at := gjson.GetBytes(object, "timestamp").Num; at > 0 {
		object = with(object, "started_at", at)
	}
	return object
}

func (t *hermesTools) done(object []byte) []byte {
	name := gjson.GetBytes(object, "name").Str
	if gjson.GetBytes(object, "tool_call_id").Str != "" || len(t.open[name]) == 0 {
		return object
	}
	object = with(object, "tool_call_id", t.open[name][0])
	t.open[name] = t.open[name][1:]
	return object
}
