package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// cleartext2 is a client that begins with HTTP/2 on a plain connection.
func cleartext2(t *testing.T) *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Both planes speak HTTP/2 without TLS to a client that begins with it: whole answers, streams, refusals; many at once on
// one connection. A stream that is cut is an error for the client, and a client that goes away frees what it held.
func TestHTTP2WithoutTLS(t *testing.T) {
	sim, base := upstream(t)
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", configFor(t, base, ""), "--data-dir", t.TempDir())
	client := cleartext2(t)
	ask := func(ctx context.Context, method, url, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		res, err := client.Do(req)
		if err == nil && res.ProtoMajor != 2 {
			t.Errorf("%s is answered over %s", url, res.Proto)
		}
		return res, err
	}
	f := func(method, url, body string, status int, want string) {
		t.Helper()
		res, err := ask(t.Context(), method, url, body)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %v %s", url, res.StatusCode, err, text)
		}
	}
	chat, stream := p.proxy+"/v1/chat/completions", strings.Replace(chatBody, "{", `{"stream":true,`, 1)
	f("GET", p.admn+"/healthz", "", 200, "ok")
	f("POST", chat, chatBody, 200, `"choices"`)
	f("POST", chat, stream, 200, "data: [DONE]")
	f("POST", chat, "{", 400, "invalid_request_error")
	f("POST", p.proxy+"/r/nobody/v1/chat/completions", chatBody, 404, "model_not_found")

	sim.Push("first", simulator.CutReset.After(3))
	res, err := ask(t.Context(), "POST", chat, stream)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil || !strings.Contains(string(text), "upstream_interrupted") || strings.Contains(string(text), "[DONE]") {
		t.Errorf("a cut stream: %v %s", err, text)
	}
	f("POST", chat, chatBody, 200, `"choices"`) // the connection outlives its streams

	sim.Push("second", simulator.Stall)
	ctx, leave := context.WithCancel(t.Context())
	res, err = ask(ctx, "POST", chat, stream)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := res.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	leave()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("after leaving: %v", err)
	}
	if err := sim.WaitCancelled(t.Context(), "second", 1); err != nil {
		t.Error(err)
	}
	p.waitMetric(`hermes_hub_leases{profile="second"} 0`)
	p.waitMetric(`hermes_hub_inflight_requests 0`)
}

// What the relay's write deadline rests on holds over HTTP/2 too: a client that reads the connection and leaves one stream
// alone, so that its window fills up, makes that stream's write fail in time, and that stream only.
func TestHTTP2WriteDeadline(t *testing.T) {
	stuck := make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stuck" {
			return
		}
		control := http.NewResponseController(w)
		for chunk := make([]byte, 32<<10); ; {
			if err := control.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
				stuck <- err
				return
			}
			_, err := w.Write(chunk)
			if err == nil {
				err = control.Flush()
			}
			if err != nil {
				stuck <- err
				panic(http.ErrAbortHandler)
			}
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(h, slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() { server.Close(); <-served }) //nolint:errcheck // nothing is left to be lost
	client, base := cleartext2(t), "http://"+listener.Addr().String()
	open, err := client.Get(base + "/stuck")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Body.Close()
	if err := <-stuck; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the write ended with %v", err)
	}
	other, err := client.Get(base + "/other")
	if err != nil || other.StatusCode != 200 {
		t.Fatalf("another stream of the connection: %v", err)
	}
	other.Body.Close()
	if _, err := io.Copy(io.Discard, open.Body); err == nil {
		t.Error("the client takes the answer for whole")
	}
}

// Row 31: a client that opens streams and resets them at once, ten thousand times, costs a bounded number of goroutines,
// and nobody else anything.
func TestHTTP2RapidReset(t *testing.T) {
	_, base := upstream(t)
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", configFor(t, base, ""), "--data-dir", t.TempDir())
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.proxy, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answered := make(chan error, 1)
	go func() {
		answered <- untilFrame(conn, 1)
		io.Copy(io.Discard, conn) //nolint:errcheck // until it is closed
	}()
	frame := func(kind, flags byte, stream uint32, payload string) []byte {
		head := []byte{0, 0, byte(len(payload)), kind, flags}
		return append(binary.BigEndian.AppendUint32(head, stream), payload...)
	}
	const headers, reset, settings, endStreamAndHeaders = 1, 3, 4, 5
	// GET, http, / and an authority: three entries of HPACK's static table and a literal.
	request := "\x82\x86\x84\x41\x09localhost"
	begin := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0, "")...)
	if _, err := conn.Write(append(begin, frame(headers, endStreamAndHeaders, 1, request)...)); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Fatalf("a stream that is meant: %v", err)
	}
	var attack []byte
	most := 0
	for i := range uint32(10_000) {
		attack = append(attack, frame(headers, endStreamAndHeaders, 2*i+3, request)...)
		attack = append(attack, frame(reset, 0, 2*i+3, "\x00\x00\x00\x08")...)
		if i%500 != 499 {
			continue
		}
		if _, err := conn.Write(attack); err != nil {
			break // it was shown the door, which is as good
		}
		attack = attack[:0]
		most = max(most, runtime.NumGoroutine())
	}
	if most > 1000 {
		t.Errorf("%d goroutines", most)
	}
	if status, body := p.do("POST", p.proxy+"/v1/chat/completions", chatBody, ""); status != 200 {
		t.Errorf("somebody else: %d %s", status, body)
	}
}

// untilFrame reads HTTP/2 frames up to the first of a kind.
func untilFrame(r io.Reader, kind byte) error {
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(r, head); err != nil {
			return err
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, r, size); err != nil || head[3] == kind {
			return err
		}
	}
}
