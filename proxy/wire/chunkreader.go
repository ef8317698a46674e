package wire

import "bytes"

// ChunkReader reads the chunks of one stream. Providers send the same chunk over and over, with another word in it: one
// that differs from the last in nothing but the inside of one string is what the last one was, and is not walked again.
type ChunkReader struct {
	head, tail []byte // of the last chunk: what stands in front of the word, and what behind, both quotes included
	last       Chunk
}

// Read looks at the data of one event, as ReadChunk does.
func (r *ChunkReader) Read(data []byte) Chunk {
	if word := len(data) - len(r.head) - len(r.tail); len(r.head) > 0 && word > 0 && bytes.HasPrefix(data, r.head) && bytes.HasSuffix(data, r.tail) {
		if plain(data[len(r.head):]) == word {
			return r.last
		}
	}
	c := ReadChunk(data)
	r.keep(data, c)
	return c
}

// contentMember is what stands in front of a word in nearly every chunk there is.
var contentMember = []byte(`"content":"`)

// keep remembers a chunk with a word in it and nothing out of the ordinary.
func (r *ChunkReader) keep(data []byte, c Chunk) {
	r.head, r.tail = r.head[:0], r.tail[:0]
	if !c.Valid || !c.Content || c.Usage.Known || c.Failed || c.Error.Found() || c.Nulled.Found() {
		return
	}
	at := bytes.Index(data, contentMember)
	if at < 0 {
		return
	}
	at += len(contentMember)
	word := plain(data[at:])
	if word == 0 || at+word == len(data) || data[at+word] != '"' {
		return
	}
	r.head = append(r.head, data[:at]...)
	r.tail = append(r.tail, data[at+word:]...)
	r.last = c
}
