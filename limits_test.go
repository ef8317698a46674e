package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Row 12, T12: whatever a client makes up, it makes no series: after ten thousand methods, paths, roles, models, sessions
// and keys that nobody has heard of the metrics have exactly the series that they had after the first of each kind.
func TestSeriesAreBounded(t *testing.T) {
	_, base := upstream(t)
	path := configFor(t, base, "client_keys: [{name: desk, key: client-key-1}]\n")
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	odd := func(i int) {
		method, path, key := http.MethodPost, "/v1/chat/completions", "client-key-1"
		model, session := "sim-1", "s"
		switch i % 7 {
		case 0:
			method = fmt.Sprintf("ODD%d", i)
		case 1:
			path = fmt.Sprintf("/v1/odd%d/completions", i)
		case 2:
			path = fmt.Sprintf("/r/odd%d/v1/chat/completions", i)
		case 3:
			model = fmt.Sprintf("odd-%d", i)
		case 4:
			key = fmt.Sprintf("odd-%d", i)
		case 5:
			session = fmt.Sprintf("odd-%d", i)
		case 6:
			path, method = fmt.Sprintf("/v1/models/odd-%d?odd=%d", i, i), http.MethodGet
		}
		req, err := http.NewRequestWithContext(t.Context(), method, p.proxy+path, strings.NewReader(strings.Replace(chatBody, "sim-1", model, 1)))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("X-Hub-Session", session)
		res, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body) // what it says is others' to prove
	}
	for i := range 7 {
		odd(i)
	}
	before := p.series()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker; i < 10_000; i += 8 {
				odd(i)
			}
		})
	}
	wg.Wait()
	after := p.series()
	for _, s := range after {
		if !slices.Contains(before, s) {
			t.Errorf("a client made the series %s", s)
		}
	}
	if len(after) != len(before) || len(before) < 100 {
		t.Errorf("%d series, were %d", len(after), len(before))
	}
}

// series are the names of the metrics with their labels.
func (p *program) series() (names []string) {
	p.t.Helper()
	_, text := p.get(p.admn+"/metrics", "")
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && !strings.HasPrefix(line, "#") {
			names = append(names, line[:at])
		}
	}
	return names
}

// Row 37: whatever stands in a path, a model, a role, a session, a header or a query, on either plane: the log has one line
// for it and no more, no line can be forged, and nothing in it drives a terminal.
func TestLogCannotBeForged(t *testing.T) {
	_, base := upstream(t)
	path := configFor(t, base, "")
	const evil, encoded = "x\r\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\x1b[2J\u009b31m\u202eabc\u2028", "x%0d%0a%7b%22level%22:%22ERROR%22,%22msg%22:%22forged%22%7d%1b%5b2J%c2%9b31m%e2%80%aeabc%e2%80%a8"
	body := func(member string) string {
		text, err := json.Marshal(evil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Replace(fmt.Sprintf(`{"model":"sim-1","messages":[],%q:%s}`, member, text), `"model":"sim-1","messages":[],"model"`, `"messages":[],"model"`, 1)
	}
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir(), "--log-level", "debug")
	const chat = "/v1/chat/completions"
	p.do(http.MethodPost, p.proxy+chat, body("model"), "")
	p.do(http.MethodPost, p.proxy+chat, body("user"), "")
	p.do(http.MethodPost, p.proxy+chat, strings.Replace(chatBody, `"model"`, `"metadata":{"role":"x\u001b[2J\r\n{\"msg\":\"forged\"}\u202e"},"model"`, 1), "")
	p.do(http.MethodPost, p.proxy+"/r/"+encoded+chat, chatBody, "")
	p.do(http.MethodPost, p.proxy+"/v1/"+encoded, chatBody, "")
	p.do(http.MethodPost, p.proxy+chat+"?q="+encoded, chatBody, "")
	p.do(http.MethodGet, p.admn+"/admin/v1/"+encoded, "", "")
	p.do(http.MethodGet, p.admn+"/admin/v1/version?q="+encoded, "", encoded)
	for _, name := range []string{"X-Hub-Session", "User-Agent", "X-Hub-Role", "Origin", "X-Request-Id"} {
		raw(t, p.proxy, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n%s: x\u009b31m\u202eabc\u2028\r\n\r\n%s", chat, len(chatBody), name, chatBody))
	}
	p.stop()
	log := p.err.String()
	if strings.ContainsAny(log, "\x1b\r\u009b\u202e") {
		t.Errorf("what drives a terminal came through:\n%q", log)
	}
	requests := 0
	for line := range strings.Lines(log) {
		var record struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Time == "" || record.Msg == "forged" {
			t.Errorf("a line of its own: %q", line)
		}
		if record.Msg == "request" {
			requests++
		}
	}
	// The path that nobody serves makes no exchange, and a foreign Origin none either.
	if requests != 9 || !strings.Contains(log, `\"msg\":\"forged\"`) {
		t.Errorf("%d lines for 9 requests, or nothing evil was logged:\n%s", requests, log)
	}
}

// raw writes bytes to a plane and reads what it answers.
func raw(t *testing.T, plane, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(plane, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(c) // a refused connection says nothing
	return string(answer)
}

// Reference 5.1, file descriptors: a hub that has none left goes on with the streams that it has, calls the accounts of a
// new request nothing for it, asks its client to come again, and is as before when there are some again.
func TestDescriptorsRunOut(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("file descriptors (prlimit not found: install util-linux)")
	}
	release := make(chan struct{})
	end := sync.OnceFunc(func() { close(release) })
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"begun"}}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-release
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"ended"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	defer end()
	cmd, p := limited(t, 64, configFor(t, up.URL+"/v1", ""))
	var streams []*bufio.Reader
	for range 8 {
		streams = append(streams, p.stream())
	}
	kept := p.connect() // there before the shortage
	for range 100 {
		_ = p.connect()
	}
	p.waitLog("too many open files", 1)
	for range 3 {
		fmt.Fprintf(kept, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(chatBody), chatBody)
		res, err := http.ReadResponse(bufio.NewReader(kept), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" || !strings.Contains(string(body), "hub_unavailable") {
			t.Errorf("without a descriptor: %d %v %s, %v", res.StatusCode, res.Header, body, err)
		}
	}
	end()
	for _, s := range streams {
		if rest, err := io.ReadAll(s); err != nil || !strings.Contains(string(rest), "[DONE]") {
			t.Errorf("a stream that had begun: %q, %v", rest, err)
		}
	}
	p.hangUp()
	p.eventually("an answer", func() bool {
		text := raw(t, p.proxy, fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(streamBody), streamBody))
		return strings.Contains(text, "X-Hub-Profile: first\r\n") && strings.Contains(text, "[DONE]")
	})
	if _, metrics := p.get(p.admn+"/metrics", ""); !strings.Contains(metrics, `hermes_hub_leases{profile="first"} 0`+"\n") || !strings.Contains(metrics, "hermes_hub_inflight_requests 0\n") {
		t.Error("something is held")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, p.err)
	}
}

var streamBody = strings.Replace(chatBody, `"model"`, `"stream":true,"model"`, 1)

// limitedProgram is the built program in a process that may have so many descriptors, and its clients' connections.
type limitedProgram struct {
	*program
	conns []net.Conn
}

func limited(t *testing.T, descriptors int, config string) (*exec.Cmd, *limitedProgram) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hermes-hub")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	p := &limitedProgram{program: &program{t: t, out: &output{}, err: &output{}}}
	cmd := exec.CommandContext(t.Context(), "prlimit", fmt.Sprintf("--nofile=%d", descriptors), "--", binary, "serve", "--config", config, "--data-dir", t.TempDir(), "--log-format", "json", "--log-level", "debug")
	cmd.Env = []string{"HOME=" + t.TempDir(), "KEY_FIRST=canary-first", "KEY_SECOND=canary-second"}
	cmd.Stderr = p.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.hangUp(); _ = cmd.Process.Kill() }) // it may have ended
	p.waitLog(`"serving"`, 1)
	p.readAddresses()
	return cmd, p
}

func (p *limitedProgram) connect() net.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.proxy, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	p.conns = append(p.conns, c)
	return c
}

// stream opens a stream and reads its beginning.
func (p *limitedProgram) stream() *bufio.Reader {
	p.t.Helper()
	c := p.connect()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(streamBody), streamBody)
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		if strings.Contains(line, "begun") {
			return r
		}
	}
}

func (p *limitedProgram) hangUp() {
	for _, c := range p.conns {
		c.Close()
	}
}

// eventually waits for something that nothing announces.
func (p *limitedProgram) eventually(what string, holds func() bool) {
	p.t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("never came: %s; stderr %s", what, p.err)
}
