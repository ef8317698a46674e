package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// own keeps what this account has sealed.
func own(value []byte) bool { return strings.HasPrefix(string(value), "own") }

func TestUnsealMessages(t *testing.T) {
	f := func(body, want string, wantRemoved ...string) {
		t.Helper()
		edits, removed := UnsealMessages([]byte(body), own, nil)
		got := string(Splice(nil, []byte(body), edits))
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
		if !slices.Equal(removed, wantRemoved) {
			t.Errorf("%s\nremoved %q, want %q", body, removed, wantRemoved)
		}
	}
	const theirs = `{"type":"thinking","thinking":"a","signature":"theirs"}`
	const mine = `{"type":"thinking","thinking":"b","signature":"own1"}`
	const hidden = `{"type":"redacted_thinking","data":"theirs"}`
	const unsigned = `{"type":"thinking","thinking":"c","signature":""}`
	const call = `{"type":"tool_use","id":"t","name":"f","input":{}}`
	const said = `{"type":"text","text":"x"}`
	turns := func(content string) string {
		return `{"messages":[{"role":"user","content":"q"}, {"role":"assistant","content":` + content + `},{"role":"user","content":"r"}]}`
	}
	f(turns(`[`+theirs+`, `+said+` ]`), turns(`[`+said+` ]`), "messages[1].content[0]")
	f(turns(`[ `+mine+`,`+theirs+` , `+said+`]`), turns(`[ `+mine+` , `+said+`]`), "messages[1].content[1]")
	f(turns(`[`+theirs+`,`+hidden+`,`+said+`]`), turns(`[`+said+`]`), "messages[1].content[0]", "messages[1].content[1]")
	f(turns(`[`+said+`,`+theirs+` ,`+hidden+` ]`), turns(`[`+said+` ]`), "messages[1].content[1]", "messages[1].content[2]")
	f(turns(`[`+mine+`,`+unsigned+`,`+said+`]`), turns(`[`+mine+`,`+unsigned+`,`+said+`]`))
	f(turns(`"plain"`), turns(`"plain"`))
	f(turns(`[]`), turns(`[]`))
	// A user who talks of thinking is no model that thinks, and neither is a tool's result.
	f(`{"messages":[{"role":"user","content":[`+theirs+`]}]}`, `{"messages":[{"role":"user","content":[`+theirs+`]}]}`)
	// A message that would be left empty goes.
	f(turns(`[`+theirs+`,`+hidden+`]`), `{"messages":[{"role":"user","content":"q"},{"role":"user","content":"r"}]}`, "messages[1].content[0]", "messages[1].content[1]")
	f(`{"messages":[{"role":"assistant","content":[`+theirs+`]},{"role":"user","content":"r"}]}`, `{"messages":[{"role":"user","content":"r"}]}`, "messages[0].content[0]")

	// A turn of tool calls that lost its thought cannot be gone on with under a budget for thinking.
	open := func(thinking, content, rest string) string {
		return `{"thinking":` + thinking + `,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[` + content + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]` + rest + `}`
	}
	const budget, adaptive, off = `{"type":"enabled","budget_tokens":2048}`, `{"type":"adaptive"}`, `{"type":"disabled"}`
	f(open(budget, theirs+`,`+call, ``), open(off, call, ``), "messages[1].content[0]")
	f(open(adaptive, theirs+`,`+call, ``), open(adaptive, call, ``), "messages[1].content[0]")
	f(open(budget, mine+`,`+call, ``), open(budget, mine+`,`+call, ``))
	f(open(budget, mine+`,`+theirs+`,`+call, ``), open(budget, mine+`,`+call, ``), "messages[1].content[1]")
	f(open(budget, theirs+`,`+said, ``), open(budget, said, ``), "messages[1].content[0]")
	f(open(budget, call, ``), open(budget, call, ``))
	const clear, other = `{"type":"clear_thinking_20251015","keep":"all"}`, `{"type":"clear_tool_uses_20250919"}`
	management := func(edits string) string { return `,"context_management":{"edits":[` + edits + `]}` }
	f(open(budget, theirs+`,`+call, management(clear+`,`+other)), open(off, call, management(other)), "messages[1].content[0]")
	f(open(budget, theirs+`,`+call, management(clear)), open(off, call, management(``)), "messages[1].content[0]")
	f(open(budget, mine+`,`+call, management(clear)), open(budget, mine+`,`+call, management(clear)))
}

func TestUnsealResponses(t *testing.T) {
	f := func(input, want string, wantRemoved ...string) {
		t.Helper()
		body := []byte(` {"model":"m","input":` + input + `,"store":false}`)
		edits, removed := UnsealResponses(body, own, nil)
		got := string(Splice(nil, body, edits))
		if want := ` {"model":"m","input":` + want + `,"store":false}`; got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s\n got %s\nwant %s", input, got, want)
		}
		if !slices.Equal(removed, wantRemoved) {
			t.Errorf("%s\nremoved %q, want %q", input, removed, wantRemoved)
		}
	}
	const theirs = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"theirs"}`
	const mine = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"own"}`
	const open = `{"type":"reasoning","id":"rs_3","summary":[{"type":"summary_text","text":"x"}],"encrypted_content":null}`
	const said = `{"role":"user","content":"x"}`
	const compacted = `{"type":"compaction","encrypted_content":"theirs"}`
	f(`"text"`, `"text"`)
	f(`[`+said+`, `+theirs+`, `+said+`]`, `[`+said+`, `+said+`]`, "input[1]")
	f(`[`+theirs+`,`+theirs+`,`+mine+`,`+theirs+`]`, `[`+mine+`]`, "input[0]", "input[1]", "input[3]")
	f(`[ `+theirs+` ]`, `[  ]`, "input[0]")
	f(`[`+open+`,`+compacted+`]`, `[`+open+`,`+compacted+`]`)
}

func TestSeals(t *testing.T) {
	f := func(seals []Seal, want string) {
		t.Helper()
		var b strings.Builder
		for _, s := range seals {
			fmt.Fprintf(&b, "%s=%s vital=%t;", s.Path, s.Value, s.Vital)
		}
		if b.String() != want {
			t.Errorf("got %s, want %s", b.String(), want)
		}
	}
	f(MessagesSeals([]byte(`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"thinking","signature":"S\/="},{"type":"redacted_thinking","data":"D"}]}]}`)),
		`messages[1].content[1]=S/= vital=false;messages[1].content[2]=D vital=false;`)
	f(ResponsesSeals([]byte(`{"input":[{"type":"reasoning","encrypted_content":"E"},{"type":"message","role":"user","content":"encrypted_content"},{"type":"compaction","encrypted_content":"C"}]}`)),
		`input[0]=E vital=false;input[2]=C vital=true;`)
	f(ResponsesSeals([]byte(`{"input":"x"}`)), ``)
}

// Whatever is taken out, what is left is JSON, holds no foreign seal and has kept its own.
func FuzzUnseal(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"assistant","content":[{"type":"thinking","signature":"x"},{"type":"tool_use"}]}],"thinking":{"type":"enabled"}}`))
	f.Add([]byte(`{"input":[{"type":"reasoning","encrypted_content":"x"},{"type":"reasoning","encrypted_content":"own"}]}`))
	f.Add([]byte(`{"input":[{"type":"reasoning","encrypted_content":"x"} , {} ],"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		for _, p := range []struct {
			unseal func([]byte, func([]byte) bool, []Edit) ([]Edit, []string)
			seals  func([]byte) []Seal
		}{{UnsealMessages, MessagesSeals}, {UnsealResponses, ResponsesSeals}} {
			edits, removed := p.unseal(body, own, nil)
			left := Splice(nil, body, edits)
			if !json.Valid(left) {
				t.Fatalf("%q leaves %q", body, left)
			}
			before, after := p.seals(body), p.seals(left)
			if len(before) != len(after)+len(removed) {
				t.Fatalf("%q: %d seals, %d removed, %d left", body, len(before), len(removed), len(after))
			}
			for _, s := range after {
				if !own(s.Value) && !s.Vital {
					t.Fatalf("%q keeps %q", body, s.Value)
				}
			}
		}
	})
}

func BenchmarkUnsealMessages(b *testing.B) {
	block := `{"type":"thinking","thinking":"` + strings.Repeat("lorem ipsum ", 100) + `","signature":"` + strings.Repeat("A", 400) + `"}`
	turn := `{"role":"assistant","content":[` + block + `,{"type":"text","text":"` + strings.Repeat("dolor sit ", 200) + `"}]},{"role":"user","content":"go on"}`
	body := []byte(`{"model":"m","messages":[` + strings.Repeat(turn+",", 59) + turn + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		UnsealMessages(body, own, nil)
	}
}
