package httpapi

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes-hub/runs"
)

// Any text in any place of a cursor begins a stream at the start, or where it says, and nowhere else (J12).
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "5", "r:5", "other:5", "abc", "-1", "r:-1", "../x:1", "9999999999999999", "$", "\r\nid: 1", "r:5\x00", "r:0005"} {
		f.Add(seed)
	}
	head := runs.Head{RunID: "r", First: 1, Last: 9, Rows: 9}
	f.Fuzz(func(t *testing.T, text string) {
		at := runs.Resume(text, head)
		if at.After < 0 || at.After > head.Last || at.Gap != (runs.Gap{}) {
			t.Errorf("%+v", at)
		}
		if at.After > 0 && strings.TrimLeft(strings.TrimPrefix(text, "r:"), "0") != string(rune('0'+at.After)) {
			t.Errorf("%q is taken for %d", text, at.After)
		}
		if legs, instead := plan(text, []runs.Head{head}); (instead == "") != (len(legs) == 1) {
			t.Errorf("%v %q", legs, instead)
		}
		readPlace(text)
		_, _ = pageWait(url.Values{"wait": {text}}, time.Second)
		if n, err := pageLimit(url.Values{"limit": {text}}); err == nil && (n < 1 || n > mostRows) {
			t.Errorf("limit %q is %d", text, n)
		}
	})
}

// Any body is an order or a fault with a message; what it becomes is valid JSON and UTF-8.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		`{"input":"hi","metadata":{"a":1},"task_id":7}`, `{"message":"hi","toolsets":["a"]}`, `{"input":[{}],"input":1}`, `{"events":[{"type":"done"},{"event":"message.delta","delta":"\ud800"}]}`,
		"{\"input\":\"\xff\"}", `{"events":[{"type":"error","terminal":true}]}`, `[]`, `{"":{"":""}}`, `{"metadata":null,"input":null}`,
	} {
		f.Add([]byte(seed))
	}
	a := New(Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := parseObject(body)
		if err != nil {
			if understand(err).message == "" {
				t.Error("a fault without a message")
			}
			return
		}
		if order, err := a.order(&call{r: httptest.NewRequest("POST", "/v1/runs", nil)}, o); err == nil {
			started, err := json.Marshal(order.Started)
			if err != nil || !utf8.Valid(started) || !json.Valid(order.Body) || len(order.Started.Input) == 0 && order.Runtime != "external" {
				t.Errorf("%s becomes %s: %v", body, started, err)
			}
		}
		o, _ = parseObject(body)
		if posted, err := readPosted(o); err == nil {
			for _, p := range posted {
				if raw := p.Payload.(runs.Raw); !json.Valid(raw.Object) || raw.Family == "" {
					t.Errorf("%s becomes %+v", body, raw)
				}
			}
		}
	})
}
