package runtime_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

// A client that sends only what is new has the session's earlier turns told to the model, oldest first: its own, those that
// have an answer, and not more than fit.
func TestHistory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := new(memstore.Store)
		var asked, reply string
		h := calling(t, store, route(func(_ context.Context, c runtime.Call) (*http.Response, error) {
			var body struct {
				Messages []struct{ Role, Content string }
			}
			if err := json.Unmarshal(c.Body, &body); err != nil {
				t.Error(err)
			}
			asked = ""
			for _, m := range body.Messages {
				asked += m.Role[:1] + ":" + m.Content[:min(len(m.Content), 5)] + " "
			}
			return answers(200, "", strings.NewReader(chunks(saying(`{"content":"`+reply+`"}`), stops))), nil
		}))
		say := func(owner, session, member, text string) string {
			t.Helper()
			o := runtime.Order{Owner: owner, SessionID: session, Body: json.RawMessage(`{"` + member + `":` + text + `}`), Surface: runtime.RunsAPI}
			o.Started.Input = json.RawMessage(text)
			h.start(o)
			settle()
			return strings.TrimSpace(asked)
		}
		reply = "one"
		want(t, "first", say("me", "s", "message", `"a"`), "u:a")
		reply = ""
		want(t, "second", say("me", "s", "message", `"b"`), "u:a a:one u:b")
		reply = "three"
		want(t, "without the one that failed", say("me", "s", "input", `[{"role":"system","content":"z"},{"role":"user","content":"c"}]`), "s:z u:c")
		want(t, "last", say("me", "s", "message", `"d"`), "u:a a:one u:c a:three u:d")
		want(t, "another owner", say("you", "s", "message", `"e"`), "u:e")
		want(t, "another session", say("me", "t", "message", `"f"`), "u:f")
		want(t, "nobody's", say("", "s", "message", `"e"`), "u:e")
		want(t, "none", say("me", "", "message", `"g"`), "u:g")
		reply = strings.Repeat("long ", 20<<10)
		say("me", "s", "message", `"h"`)
		say("me", "s", "message", `"i"`)
		say("me", "s", "message", `"j"`)
		want(t, "bounded", say("me", "s", "message", `"k"`), "u:i a:long  u:j a:long  u:k")
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Without what was said, as in a journal that keeps no content, nothing is made up.
func TestHistoryUnknown(t *testing.T) {
	performs(t, plain(chunks(saying(`{"content":"x"}`), stops)), runtime.Order{SessionID: "s", Content: runs.Metadata, Body: json.RawMessage(`{"message":"x"}`)},
		func(h *hub, run, log string) {
			want(t, "log", log, "run.started status=running done run.closed")
			want(t, "input", h.look(run).Input == nil, true)
			h.start(runtime.Order{SessionID: "s", Body: json.RawMessage(`{"message":"y"}`)})
		})
}
