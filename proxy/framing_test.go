package proxy

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"hermes-hub/proxy/oracle"
	"hermes-hub/proxy/simulator"
)

// framingPieces are what an upstream's stream is made of, well and badly.
var framingPieces = []string{
	chunkRole, chunkText, chunkFinish, chunkUsage, chunkDone, "\n", "\r\n", "\r", "\n\n", ": x\n", ": x\n\n", ":\n\n", "id: 1\n", "id: 2\n\n",
	"retry: 5\n\n", "event: x\n", "event: ping\n\n", "event: message\n" + chunkText, "data\n\n", "data:\n\n", "data: null\n\n", "data: [1]\n\n",
	"data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"two\\nlines\"}}]}\n\n", "data: {\"choices\":\rdata: []}\r\r",
	"\ufeff", "data: {\"choices\":[{\"delta\":{\"content\":\"\\u0000\\r\\n: \"}}]}\n\n", "data: {\"error\":null,\"choices\":null}\n\n",
	"data: {\"error\":{\"message\":\"a\\nb\\r\\ndata: c\",\"code\":7}}\n\n", "event: error\ndata: plain\n\n", "data: {\"cho", "field: value\n\n",
	strings.ReplaceAll(chunkText, "\n", "\r\n"), strings.ReplaceAll(chunkText, "\n", "\r"), "data: \xff\xfe\n\n", "data: {\"a\":\"\xff\"}\n\n",
}

// E11: whatever an upstream sends, in whatever order and cut wherever, what the client gets are events that the strictest
// decoder reads: objects, [DONE], or an error in an object; and a stream that is not whole never ends like one.
func FuzzFraming(f *testing.F) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		var b strings.Builder
		b.WriteString(chunkText)
		for range random.IntN(12) {
			b.WriteString(framingPieces[random.IntN(len(framingPieces))])
		}
		f.Add(b.String(), uint16(random.IntN(200)))
	}
	for _, piece := range framingPieces {
		f.Add(piece, uint16(0))
		f.Add(chunkText+piece+chunkText+chunkFinish+chunkDone, uint16(len(chunkText)))
	}
	f.Fuzz(func(t *testing.T, upstream string, at uint16) {
		cut := min(int(at), len(upstream))
		bubble(t, setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}}}}, func(t *testing.T, r *rig) {
			r.sim.Push("a", simulator.Stream(upstream[:cut], upstream[cut:]))
			got := r.chat(askUsage)
			if got.status != 200 {
				return // nothing of it was shown
			}
			_, err := oracle.DecodePython([]byte(got.body))
			if data, ok := errors.AsType[*oracle.DataError](err); ok {
				t.Errorf("the decoder dies: %v\nupstream %q | %q\n  client %q", data, upstream[:cut], upstream[cut:], got.body)
			}
			if _, told := errors.AsType[*oracle.FrameError](err); told != (got.err != nil) {
				t.Errorf("told of an error: %v, cut: %v\nupstream %q | %q\n  client %q", err, got.err, upstream[:cut], upstream[cut:], got.body)
			}
		})
	})
}
