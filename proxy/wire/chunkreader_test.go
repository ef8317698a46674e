package wire

import "testing"

// A chunk that is recognised must be what it would have been, had it been walked.
func FuzzChunkReader(f *testing.F) {
	chunk := func(word string) string {
		return `{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"` + word + `"},"finish_reason":null}]}`
	}
	f.Add(chunk("a"), chunk("bcd"))
	f.Add(chunk("a"), chunk(`b\"`))
	f.Add(chunk("a"), chunk(""))
	f.Add(chunk(`"}],"error":{"content":"`), chunk("a"))
	f.Add(`{"content":"a","error":null}`, `{"content":"b","error":null}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var r ChunkReader
		r.Read([]byte(first))
		if got, want := r.Read([]byte(second)), ReadChunk([]byte(second)); got != want {
			t.Errorf("after %q, %q\ngot  %+v\nwant %+v", first, second, got, want)
		}
	})
}
