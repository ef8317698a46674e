package quota

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// packed compresses s with a writer of package compress.
func packed(t *testing.T, s string, open func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(w io.Writer) io.WriteCloser  { return gzip.NewWriter(w) }
func zlibbed(w io.Writer) io.WriteCloser  { return zlib.NewWriter(w) }
func brotlied(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 5) }
func zstdded(w io.Writer) io.WriteCloser {
	zw, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return zw
}

func deflated(w io.Writer) io.WriteCloser {
	fw, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	return fw
}

// TestDecode: labelled, unlabelled, wrongly labelled, stacked and cut bodies.
func TestDecode(t *testing.T) {
	const plain = `{"error":{"message":"insufficient credits","code":402}}`
	gz := packed(t, plain, gzipped)
	long := strings.Repeat("<p>nothing but text</p>", BodyLimit)
	for name, c := range map[string]struct {
		label  string
		body   []byte
		want   string
		unread string
	}{
		"plain":               {"", []byte(plain), plain, ""},
		"gzip":                {"gzip", gz, plain, ""},
		"gzip, unlabelled":    {"", gz, plain, ""},
		"gzip, label kept":    {"gzip", []byte(plain), plain, ""},
		"br, label kept":      {"br", []byte(plain), plain, ""},
		"zlib":                {"deflate", packed(t, plain, zlibbed), plain, ""},
		"deflate":             {"deflate", packed(t, plain, deflated), plain, ""},
		"stacked":             {"deflate, gzip", packed(t, string(packed(t, plain, zlibbed)), gzipped), plain, ""},
		"identity":            {"identity", []byte(plain), plain, ""},
		"long":                {"", []byte(long), long[:BodyLimit], ""},
		"bomb":                {"gzip", packed(t, long, gzipped), long[:BodyLimit], ""},
		"brotli":              {"br", packed(t, plain, brotlied), plain, ""},
		"brotli bomb":         {"br", packed(t, long, brotlied), long[:BodyLimit], ""},
		"not brotli":          {"br", []byte("\xff\xff\xff"), "", "br"},
		"brotli, unlabelled":  {"", packed(t, plain, brotlied), "", "binary"}, // it has no magic number
		"zstd":                {"zstd", packed(t, plain, zstdded), plain, ""},
		"zstd, unlabelled":    {"", packed(t, plain, zstdded), plain, ""},
		"zstd bomb":           {"zstd", packed(t, long, zstdded), long[:BodyLimit], ""},
		"not zstd":            {"zstd", []byte("\x28\xb5\x2f\xfd\x04\x00"), "", "zstd"},
		"a label too many":    {"gzip, br", gz, plain, ""},
		"the wrong label":     {"br", packed(t, plain, zstdded), plain, ""},
		"unknown":             {"x-secret", []byte("\x01\x02"), "", "unknown_encoding"},
		"audio":               {"", []byte("ID3\x03\x00\x00"), "", "binary"},
		"cut inside a letter": {"", []byte("Zu viele Anfragen f\xc3"), "Zu viele Anfragen f\xc3", ""},
		"empty":               {"gzip", nil, "", ""},
	} {
		got, unread := decode(headers("Content-Encoding: "+c.label), c.body)
		if string(got) != c.want || unread != c.unread {
			t.Errorf("%s: %q, unread %q; want %q, unread %q", name, got[:min(len(got), 80)], unread, c.want[:min(len(c.want), 80)], c.unread)
		}
	}
	if got, _ := decode(headers("Content-Encoding: gzip"), gz[:len(gz)-9]); !strings.HasPrefix(plain, string(got)) || len(got) == 0 {
		t.Errorf("a truncated body gives %q", got)
	}
}

// TestUndecodedBody: what cannot be decoded is judged by status and headers, and the reason says so.
func TestUndecodedBody(t *testing.T) {
	r := Read(Response{Status: 429, Header: headers("Content-Encoding: br", "Retry-After: 7"), Body: []byte("\xff\xff\xff"), At: noon})
	if r.Class != RateLimited || r.RetryAfter.Seconds() != 7 || r.Reason != "status:429 body:br" {
		t.Errorf("%+v", r)
	}
	if r := Read(Response{Status: 200, Body: []byte("ID3\x03\x00\x00"), At: noon}); r.Class != OK {
		t.Errorf("a body of sound is %s, want ok", r.Class)
	}
}
