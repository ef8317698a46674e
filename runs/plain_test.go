package runs

import (
	"encoding/json"
	"testing"
	"time"
)

// However a row is written, it is the same row.
func FuzzEventPlain(f *testing.F) {
	f.Add("r", "s", "token.delta", `{"delta":"a"}`, int64(7), true)
	f.Add("r", "s<é", "done", `{"a": [1, 2]}`, int64(1<<20+1), false)
	f.Add("r", "s\n", "done", "{\"a\":\n1}", int64(1), false)
	f.Add("r", "", "", "", int64(1), false)
	f.Add("r", "", "x", "{", int64(1), false)
	f.Fuzz(func(t *testing.T, run, session, kind, payload string, seq int64, terminal bool) {
		e := Event{run, session, seq, seq / 1e6, Type(kind), time.UnixMicro(seq), terminal, json.RawMessage(payload)}
		written, err := e.MarshalJSON()
		if !e.plain() {
			return
		}
		byEncoder, encErr := json.Marshal(envelope{e.ID(), e.Seq, e.Epoch, e.RunID, e.SessionID, e.Type, seconds(e.CreatedAt), e.Terminal, e.Payload})
		if err != nil || encErr != nil {
			t.Fatal(err, encErr)
		}
		var one, other any
		if json.Unmarshal(written, &one) != nil || json.Unmarshal(byEncoder, &other) != nil {
			t.Fatalf("%s\n%s", written, byEncoder)
		}
		if a, b := marshal(t, one), marshal(t, other); a != b {
			t.Errorf("%s\n%s", written, byEncoder)
		}
	})
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
