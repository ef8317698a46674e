package clients

import (
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// streamShape is a stream that was seen to kill some client, and what is to become of it.
type streamShape struct {
	name   string
	pieces []string
	want   string
}

// chunk is an event with one choice of the answer of account a.
func chunk(choice string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"sim-1","choices":[` + choice + `]}` + "\n\n"
}

// The usual events of the answer "Hello, I am a".
var (
	opening = chunk(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`)
	hello   = chunk(`{"index":0,"delta":{"content":"Hello, "},"finish_reason":null}`)
	iAmA    = chunk(`{"index":0,"delta":{"content":"I am a"},"finish_reason":null}`)
	finish  = chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`)
)

const done = "data: [DONE]\n\n"

func streamShapes() []streamShape {
	const (
		whole = `"Hello, I am a" finish=stop`
		other = `"Hello, I am b" finish=stop`
		cut   = "a part, error 0 upstream_interrupted"
	)
	usual := []string{opening, hello, iAmA, finish, done}
	between := func(piece string) []string { return []string{opening, piece, hello, piece, iAmA, finish, done} }
	each := func(old, with string) []string {
		all := make([]string, len(usual))
		for i, event := range usual {
			all[i] = strings.Replace(event, old, with, 1)
		}
		return all
	}
	crlf := strings.ReplaceAll(strings.Join(usual, ""), "\n", "\r\n")
	return []streamShape{
		{"comments", between(": ka\n\n"), whole},
		{"ids", each("data:", "id: 7\ndata:"), whole},
		{"ids and comments", []string{opening, "id: 7\n" + hello, ": ka\n\n", iAmA, finish, done}, whole},
		{"ids and comments of one line", []string{opening, "id: 7\n" + hello, ": ka\n", iAmA, finish, done}, whole},
		{"retry first", append([]string{"retry: 3000\n\n"}, usual...), whole},
		{"ping without data", between("event: ping\n\n"), whole},
		{"ping with data", between("event: ping\ndata: {}\n\n"), whole},
		{"event names", each("data:", "event: message\ndata:"), whole},
		{"empty data", between("data: \n\n"), whole},
		{"comment as data", between("data: : keepalive\n\n"), whole},
		{"null", between("data: null\n\n"), whole},
		{"empty delta", between(chunk(`{"index":0,"delta":{},"finish_reason":null}`)), whole},
		{"no choices", between(chunk("")), whole},
		{"choices null", between(strings.Replace(chunk(""), "[]", "null", 1)), whole},
		{"error null", each(`"object"`, `"error":null,"object"`), whole},
		{"usage null", each(`"object"`, `"usage":null,"object"`), whole},
		{"CR LF", []string{crlf}, whole},
		{"data without a space", each("data: ", "data:"), whole},
		{"byte order mark", append([]string{"\ufeff"}, usual...), whole},
		{"words after the last", append([]string{}, append(usual, hello)...), whole},
		{"no last word", usual[:4], whole},

		{"one newline between events", []string{strings.ReplaceAll(strings.Join(usual, ""), "\n\n", "\n")}, other},
		{"nothing", nil, other},
		{"an error first", []string{`data: {"error":{"message":"no","type":"server_error","param":null,"code":null}}` + "\n\n"}, other},
		{"an error first as text", []string{`data: {"error":"no"}` + "\n\n"}, other},
		{"an error event that is no JSON first", []string{"event: error\ndata: no\n\n"}, other},

		{"end without a finish", usual[:2], cut},
		{"error", []string{opening, hello, `data: {"error":{"message":"no","type":"server_error","param":null,"code":null}}` + "\n\n"}, cut},
		{"error as an event", []string{opening, hello, "event: error\n" + `data: {"error":{"message":"no","type":"server_error"}}` + "\n\n"}, cut},
		{"error as text", []string{opening, hello, `data: {"error":"no"}` + "\n\n"}, cut},
		{"error event that is no JSON", []string{opening, hello, "event: error\ndata: no\n\n"}, cut},
		{"error as a finish", []string{opening, hello, strings.Replace(chunk(`{"index":0,"delta":{},"finish_reason":"error"}`), `"object"`, `"error":{"message":"no"},"object"`, 1), done}, cut},
	}
}

// TestBrokenStreams: P09, P22: what one client takes and another dies of (openai/openai-python#2722 and its kin) reaches
// all of them as the same answer, the first account's or the other's, or as the same error.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c client) {
		for _, shape := range streamShapes() {
			t.Run(shape.name, func(t *testing.T) {
				h := startHub(t)
				h.sim.Push("a", simulator.Stream(shape.pieces...))
				if got := c.turn(t, h.fill(streamQuiet)); got.String() != shape.want {
					t.Errorf("\n got %s\nwant %s\nerror %+v", got, shape.want, got.Error)
				}
			})
		}
	})
}
