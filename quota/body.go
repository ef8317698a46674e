package quota

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const (
	readableProbe = 512     // how much of a body is looked at to tell text from compressed bytes
	zstdWindow    = 8 << 20 // the largest window that a zstd decoder must support, by RFC 8878; more is refused
)

// decode undoes the Content-Encoding of a body, and of an unlabelled one by its magic. It returns at most BodyLimit
// bytes, and the name of the encoding that it could not undo. A body that reads as text is taken as it stands, whatever
// its label says: transports that decode do not always take the label off. A truncated body gives what it held.
func decode(h http.Header, body []byte) (plain []byte, unread string) {
	body = body[:min(len(body), BodyLimit)]
	if readable(body) {
		return body, ""
	}
	if messages := streamMessages(body); messages != nil {
		return messages, ""
	}
	labels := strings.Split(h.Get("Content-Encoding"), ",")
	for _, label := range slices.Backward(labels) {
		label = strings.ToLower(strings.TrimSpace(label))
		if label == "" || label == "identity" {
			continue
		}
		undo, known := decoders[label]
		switch {
		case !known:
			return nil, "unknown_encoding" // the label came from outside: it does not go into a Reason
		case isGzip(body):
			undo = inflate // the bytes know better than the label
		case isZstd(body):
			undo = unzstd
		}
		if body = undo(body); len(body) == 0 {
			return nil, label
		}
		if readable(body) {
			return body, ""
		}
	}
	switch {
	case isGzip(body):
		body = inflate(body)
	case isZstd(body):
		body = unzstd(body)
	}
	if !readable(body) {
		return nil, "binary"
	}
	return body, ""
}

// decoders undo an encoding and return at most BodyLimit bytes: what came before an error.
var decoders = map[string]func([]byte) []byte{
	"gzip": inflate, "x-gzip": inflate, "deflate": inflate, "br": unbrotli, "zstd": unzstd,
}

// isGzip and isZstd report the magic numbers. Brotli has none: unlabelled it is binary.
func isGzip(b []byte) bool { return len(b) > 2 && b[0] == 0x1f && b[1] == 0x8b }
func isZstd(b []byte) bool { return bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) }

// inflate undoes gzip, zlib or raw deflate, whichever the bytes are.
func inflate(b []byte) []byte {
	if isGzip(b) {
		if r, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
			return readSome(r)
		}
		return nil
	}
	if r, err := zlib.NewReader(bytes.NewReader(b)); err == nil {
		return readSome(r)
	}
	return readSome(flate.NewReader(bytes.NewReader(b)))
}

func unbrotli(b []byte) []byte { return readSome(brotli.NewReader(bytes.NewReader(b))) }

func unzstd(b []byte) []byte {
	r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil
	}
	defer r.Close()
	return readSome(r)
}

// readSome reads up to BodyLimit bytes and keeps what came before an error: half an error message is still evidence.
func readSome(r io.Reader) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, BodyLimit)) //nolint:errcheck // the bytes before the error are the point
	return b
}

// readable reports whether the bytes begin as UTF-8 text. An empty body is.
func readable(b []byte) bool {
	b = b[:min(len(b), readableProbe)]
	for len(b) > 0 {
		if c := b[0]; c >= ' ' && c < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			return len(b) < utf8.UTFMax && !utf8.FullRune(b) // cut in the middle of a rune
		case r < ' ' && r != '\n' && r != '\r' && r != '\t':
			return false
		}
		b = b[size:]
	}
	return true
}
