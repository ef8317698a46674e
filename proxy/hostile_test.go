package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

const wholeAnswer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`

// answered is a whole answer's bytes on the wire.
func answered(body string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", len(body), strings.Join(append(headers, ""), "\r\n"), body)
}

// writing is an upstream that answers every call with these bytes.
func writing(t *testing.T, wire string) *rawUpstream {
	return upstreamOf(t, func(c net.Conn, _ *http.Request) bool {
		_, err := io.WriteString(c, wire)
		return err == nil
	})
}

// Answers that are as large as somebody likes to send them. An account that sends without end costs a bounded number of
// bytes and is replaced.
//
// Regression: comments were dropped without being counted, so that an account that sent nothing else, as fast as it could,
// kept the hub busy until its first token was due.
func TestOversizedAnswers(t *testing.T) {
	f := func(name string, endless string, head, body string, want, reason string, most int64) {
		t.Run(name, func(t *testing.T) {
			steady(t)
			var sent atomic.Int64
			up := upstreamOf(t, func(c net.Conn, _ *http.Request) bool {
				_, err := io.WriteString(c, head)
				for err == nil {
					_, err = io.WriteString(c, endless)
					sent.Add(int64(len(endless)))
				}
				return false
			})
			r := newRig(t, behind(up.base()))
			r.want(r.chat(body), want)
			r.ended(1, "success")
			if got := r.told.last().Attempts[0].Reason; got != reason {
				t.Errorf("reason %s, want %s", got, reason)
			}
			r.server.Close()
			r.proxy.Close()
			if n := sent.Load(); n > most {
				t.Errorf("%d bytes were taken, want %d at most", n, most)
			}
		})
	}
	const sockets = 40 << 20 // what the kernel may hold between the two: Linux lets the two buffers grow to 32 and 4 MiB
	f("informational heads without end", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", "", ask,
		"200 profile=b attempts=2 after=server_error", "malformed_response", 1<<20+sockets)
	f("headers without end", "X-Padding: "+strings.Repeat("x", 1000)+"\r\n", "HTTP/1.1 200 OK\r\n", ask,
		"200 profile=b attempts=2 after=server_error", "malformed_response", 1<<20+sockets)
	f("a whole answer without end", strings.Repeat("x", 64<<10), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"+`{"choices":[{"message":{"content":"`, ask,
		"200 profile=b attempts=2 after=server_error", "answer_too_large", answerLimit+sockets)
	f("an error without end", strings.Repeat("x", 64<<10), "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\n\r\n", ask,
		"200 profile=b attempts=2 after=server_error", "status:500", sockets)
	f("comments without end", strings.Repeat(": beat\n\n", 100), "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", askStream,
		"200 profile=b attempts=2 after=server_error [DONE]", "stream:no_content", sockets)
}

// What only looks odd passes: 300 headers, trailers, informational heads. Nothing of it reaches the client.
func TestOddAnswers(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("X-Leak-%d: leak", i))
	}
	stream := chunkText + chunkFinish + chunkDone
	chunked := "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\nTrailer: X-Leak\r\n\r\n%x\r\n%s\r\n0\r\nX-Leak: leak\r\n\r\n"
	f := func(name, wire, body, want string) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, behind(writing(t, wire).base()))
			conn := r.dial()
			r.say(conn, post(body))
			got := hear(conn)
			r.want(got, want)
			if len(got.header) > 16 || strings.Contains(fmt.Sprint(got), "eak") {
				t.Errorf("the client saw %v", got.header)
			}
		})
	}
	f("300 headers", answered(wholeAnswer, many...), ask, "200 profile=a attempts=1")
	f("trailers", fmt.Sprintf(chunked, "application/json", len(wholeAnswer), wholeAnswer), ask, "200 profile=a attempts=1")
	f("trailers of a stream", fmt.Sprintf(chunked, "text/event-stream", len(stream), stream), askStream, "200 profile=a attempts=1 [DONE]")
	f("informational heads", strings.Repeat("HTTP/1.1 103 Early Hints\r\nX-Leak: leak\r\n\r\n", 100)+answered(wholeAnswer), ask, "200 profile=a attempts=1")
}

// Row 34, P30: the hub asks for no compression and undoes gzip that comes all the same, but only up to what a plain answer
// may have. Encodings that it did not ask for and does not know are an account's fault. A gigabyte that travels as a
// megabyte is not unpacked to its end.
func TestCompressedAnswers(t *testing.T) {
	labelled := func(encoding, body string) simulator.Step {
		return simulator.Status(200, body, http.Header{"Content-Encoding": {encoding}})
	}
	f := func(name string, step simulator.Step, body, want, reason string) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.sim.Push("a", step)
			got := r.chat(body)
			r.want(got, want)
			if e := got.header.Get("Content-Encoding"); e != "" {
				t.Errorf("the client was told %s", e)
			}
			r.settle()
			if got := r.told.last().Attempts[0].Reason; got != reason {
				t.Errorf("reason %s, want %s", got, reason)
			}
		})
	}
	const served, next = "200 profile=a attempts=1", "200 profile=b attempts=2 after=server_error"
	f("gzip", labelled("gzip", packed(wholeAnswer)), ask, served, "")
	f("gzip that is none", labelled("gzip", wholeAnswer), ask, next, "malformed_response")
	f("br", labelled("br", "\x0b\x02\x80"), ask, next, "unasked_encoding")
	f("br to a stream", labelled("br", "\x0b\x02\x80"), askStream, next+" [DONE]", "unasked_encoding")
	const member = 16 << 20
	bomb := packed(`{"choices":[{"message":{"content":"`) + strings.Repeat(packed(strings.Repeat("x", member)), 64)
	peak := peakHeap(func() { f("bomb", labelled("gzip", bomb), ask, next, "answer_too_large") })
	if peak > 6*answerLimit {
		t.Errorf("a bomb of %d bytes took %d MiB", len(bomb), peak>>20)
	}
}

// An error that an upstream compresses is still an error that its sender can read.
//
// Regression: it was passed on as "it gave no reason", because its compressed bytes are no JSON.
func TestCompressedError(t *testing.T) {
	r := newRig(t, setup{})
	body := `{"error":{"message":"unknown parameter: top_kk","type":"invalid_request_error","code":"unknown_parameter"}}`
	r.sim.Push("a", simulator.Status(400, packed(body), http.Header{"Content-Encoding": {"gzip"}}))
	if got := r.chat(ask); got.status != 400 || got.body != body {
		t.Errorf("%d %q", got.status, got.body)
	}
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // a buffer takes everything
	_ = z.Close()
	return b.String()
}

// peakHeap is the most that the heap held while f ran, in bytes more than before.
func peakHeap(f func()) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, m.HeapAlloc
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
				runtime.Gosched()
			}
		}
	}()
	f()
	close(stop)
	<-done
	return peak - before
}

// Row 35, P30: an event of 10 MB reaches the client byte for byte and while it comes, and is never held as a whole: what
// lives on the heap stays below 16 MiB at every megabyte of it.
func TestHugeEvent(t *testing.T) {
	const pieces, piece = 160, 64 << 10
	begin, end := `data: {"choices":[{"index":0,"delta":{"content":"`, `"}}]}`+"\n\n"+chunkFinish+chunkDone
	text := strings.Repeat("0123456789abcdef", piece/16)
	up := upstreamOf(t, func(c net.Conn, _ *http.Request) bool {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+begin)
		for i := 0; i < pieces && err == nil; i++ {
			_, err = io.WriteString(c, text)
		}
		_, _ = io.WriteString(c, end) // a client that is gone is seen by the test
		return false
	})
	r := newRig(t, behind(up.base()))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+"/v1/chat/completions", strings.NewReader(askStream))
	if err != nil {
		t.Fatal(err)
	}
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := live(), int64(0)
	res, err := r.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	sum, n := crc32.NewIEEE(), int64(0)
	for err == nil {
		var m int64
		m, err = io.CopyN(sum, res.Body, 1<<20)
		n += m
		most = max(most, live()-before)
	}
	want := crc32.NewIEEE()
	_, _ = io.WriteString(want, begin)
	for range pieces {
		_, _ = io.WriteString(want, text)
	}
	_, _ = io.WriteString(want, end)
	if err != io.EOF || sum.Sum32() != want.Sum32() { //nolint:errorlint // CopyN's own
		t.Errorf("%d bytes, %v: other bytes than the upstream's", n, err)
	}
	if most > 16<<20 {
		t.Errorf("%d MiB lived on the heap", most>>20)
	}
	r.ended(1, "success")
	if r.told.last().Attempts[0].Usage.Known {
		t.Error("usage was made up")
	}
}

// Row 30: whatever a client sends that two readers could read in two ways is refused, or read in the one way in which the
// hub writes it anew: one upstream request at most, its length stated by Content-Length, nothing of the framing passed on.
func TestSmuggling(t *testing.T) {
	up := writing(t, answered(wholeAnswer))
	r := newRig(t, behind(up.base()))
	seen := 0
	f := func(name, request, want string, calls int) {
		t.Helper()
		conn := r.dial()
		r.say(conn, strings.ReplaceAll(request, "BODY", ask))
		if got := hear(conn).line(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		conn.Close()
		r.settle()
		if n := up.seen() - seen; n != calls {
			t.Errorf("%s: %d upstream requests, want %d", name, n, calls)
		}
		seen = up.seen()
	}
	head := func(headers ...string) string {
		return "POST /v1/chat/completions HTTP/1.1\r\nHost: hub.test\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n"
	}
	length := fmt.Sprintf("Content-Length: %d", len(ask))
	chunks := fmt.Sprintf("%x\r\nBODY\r\n0\r\n\r\n", len(ask))
	const served = "200 profile=a attempts=1"
	f("a length", head(length)+"BODY", served, 1)
	f("chunks", head("Transfer-Encoding: chunked")+chunks, served, 1)
	f("both: the chunks count", head("Content-Length: 3", "Transfer-Encoding: chunked")+chunks, served, 1)
	f("both, and a request behind the empty body", head("Content-Length: 999", "Transfer-Encoding: chunked")+"0\r\n\r\n", "400 code=invalid_request_error", 0)
	f("a length twice", head(length, length)+"BODY", served, 1)
	f("two lengths", head(length, "Content-Length: 3")+"BODY", "400", 0)
	f("a list of lengths", head("Content-Length: 3, 3")+"BODY", "400", 0)
	f("a signed length", head("Content-Length: +3")+"BODY", "400", 0)
	f("chunks under another name", head("Transfer-Encoding: xchunked")+chunks, "501", 0)
	f("chunks twice", head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")+chunks, "501", 0)
	f("a bare LF in a chunk's head", head("Transfer-Encoding: chunked")+strings.Replace(chunks, "\r\n", "\n", 1), "400 code=invalid_request_error", 0)
	f("a chunk without its end", head("Transfer-Encoding: chunked")+strings.Replace(chunks, "BODY\r\n", "BODY", 1), "400 code=invalid_request_error", 0)
	f("a chunk's length that overflows", head("Transfer-Encoding: chunked")+"fffffffffffffffff\r\nBODY", "400 code=invalid_request_error", 0)
	f("a blank before the colon", head("X : y", length)+"BODY", "400", 0)
	f("a folded line", head(length, "X: y", " Transfer-Encoding: chunked")+"BODY", served, 1)
	f("a zero byte", head(length, "X: a\x00b")+"BODY", "400", 0)
	f("two hosts", head("Host: other.test", length)+"BODY", "400", 0)
	f("no host", strings.Replace(head(length), "Host: hub.test\r\n", "", 1)+"BODY", "400", 0)
	for _, req := range up.requests {
		body, _ := io.ReadAll(req.Body)
		if req.ContentLength != int64(len(body)) || len(req.TransferEncoding) != 0 || string(body) != ask || req.Header.Get("X") != "" {
			t.Errorf("upstream saw length %d, transfer encoding %v, %v, body %q", req.ContentLength, req.TransferEncoding, req.Header, body)
		}
	}
}

// Row 1: no Host and no target of a request chooses where it goes. Whatever stands there, an upstream request goes to the
// account's own base URL, or none is made.
func FuzzWhereRequestsGo(f *testing.F) {
	for _, seed := range [][2]string{
		{"/v1/chat/completions", "hub.test"},
		{"http://other.test/v1/chat/completions", "hub.test"},
		{"http://hub.test@other.test/v1/chat/completions", "hub.test"},
		{"//other.test/v1/chat/completions", "hub.test"},
		{"/v1/chat/completions", "other.test"},
		{"/v1/chat/completions", "hub.test@other.test"},
		{"/v1/chat/completions", "hub.test/v1?x="},
		{"/v1/chat/completions", "[::ffff:169.254.169.254]"},
		{"/v1/chat/completions?host=other.test#", "hub.test:80"},
		{"/v1/../../other.test/v1/chat/completions", "hub.test"},
		{"/v1/%2e%2e/chat/completions", "hub.test"},
		{"/r/main/v1/chat/completions", "localhost"},
		{"/r/http:%2f%2fother.test/v1/chat/completions", "localhost"},
		{"other.test:443", "hub.test"},
		{"*", "hub.test"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, target, host string) {
		if strings.ContainsAny(target+host, "\r\n") {
			return // another request line or header, and no target or host
		}
		r := newRig(t, setup{})
		base := r.router.Snapshot().Table.Profiles[0].BaseURL
		var went []string
		r.proxy.transport = func(p *router.Profile) http.RoundTripper {
			return roundTrip(func(req *http.Request) (*http.Response, error) {
				went = append(went, req.URL.String(), req.Host)
				return r.proxy.own.of(p).RoundTrip(req)
			})
		}
		conn := r.dial()
		r.say(conn, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", target, host, len(ask), ask))
		got := hear(conn)
		r.server.Close() // whatever is called has been called
		for i := 0; i+1 < len(went); i += 2 {
			if went[i] != base+"/chat/completions" || "http://"+went[i+1]+"/v1" != base {
				t.Errorf("went to %q", went)
			}
		}
		if got.status == 200 && len(went) == 0 {
			t.Error("answered without a call")
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Row 29: nothing that a client says of its own address, or of the name it meant, is believed: neither by the check of the
// Host nor by the one of the key, and it reaches neither the log nor the upstream (TestHeaderAllowLists).
func TestForwardedIsNotBelieved(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.Keys = []Key{{Name: "desk", Secret: router.NewSecret("client-key-1")}} }})
	claims := "X-Forwarded-For: 127.0.0.1\r\nX-Real-Ip: 127.0.0.1\r\nForwarded: for=127.0.0.1;host=localhost\r\nX-Forwarded-Host: localhost\r\nX-Forwarded-Proto: https\r\nX-Client-Ip: 6.6.6.6\r\n"
	f := func(host, more, want string) {
		t.Helper()
		conn := r.dial()
		r.say(conn, strings.Replace(post(ask), "Host: hub.test\r\n", "Host: "+host+"\r\n"+claims+more, 1))
		r.want(hear(conn), want)
	}
	f("evil.test", "", "421 code=foreign_host")
	f("hub.test", "", "401 code=invalid_api_key")
	f("hub.test", "Authorization: Bearer client-key-1\r\n", "200 profile=a attempts=1")
	r.server.Close()
	if strings.Contains(r.log.String(), "6.6.6.6") {
		t.Errorf("the log has it: %s", r.log)
	}
}

// Row 43: with an Idempotency-Key Go's transport sends a POST again, on its own, when a kept connection turns out to be dead:
// two calls became three. Each of ours is sent once, and the next account serves.
func TestNeverSentTwice(t *testing.T) {
	first := true
	up := upstreamOf(t, func(c net.Conn, _ *http.Request) bool {
		if !first {
			return false // hangs up, on a connection that had served before
		}
		first = false
		_, err := io.WriteString(c, answered(wholeAnswer))
		return err == nil
	})
	r := newRig(t, behind(up.base()))
	keys := []string{"Idempotency-Key", "k-1", "X-Idempotency-Key", "k-1"}
	r.want(r.chat(ask, keys...), "200 profile=a attempts=1")
	r.want(r.chat(ask, keys...), "200 profile=b attempts=2 after=server_error")
	r.ended(2, "success")
	if n := up.seen(); n != 2 {
		t.Errorf("%d upstream requests for two calls", n)
	}
}
