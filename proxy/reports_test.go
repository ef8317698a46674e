package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/oracle"
	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// Bugs that users of other gateways reported, each held against this one (T1 to T31 of the list of reports, as far as they
// concern chat completions; the ones about the models and the probes are TestHermesProbes).

// askUsage asks for a stream with token counts.
var askUsage = strings.Replace(askStream, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1)

// python reads a reply as openai-python does, and fails the test where its decoder would.
func (r *rig) python(got reply) string {
	r.t.Helper()
	chunks, err := oracle.DecodePython([]byte(got.body))
	if data, ok := errors.AsType[*oracle.DataError](err); ok {
		r.t.Errorf("openai-python dies: %v\n%.500s", data, got.body)
	}
	var text strings.Builder
	for _, c := range chunks {
		text.WriteString(gjson.GetBytes(c, "choices.0.delta.content").Str)
	}
	return text.String()
}

// T1, T2, T3, T5, T6 (openai/openai-python#2722, theopenco/llmgateway#2334, mnfst/llm-gateway#2053, Kilo-Org/kilocode#3083,
// diegosouzapw/OmniRoute#7031): ids, keep-alives, comments in data, null and retry lines killed clients in the middle of a
// stream. Whatever an upstream mixes in, and with heartbeats of our own in every silence, the strictest decoder reads the
// text; no id:, no retry:, no data that is no object, and nothing of ours in a comment but the heartbeat (that it is one
// line with one newline is TestHeartbeats).
func TestStrictDecoder(t *testing.T) {
	noise := []string{
		"id: 7\n", "retry: 3000\n\n", ": OPENROUTER PROCESSING\n\n", "data: : keepalive\n\n", "data: null\n\n", "data:\n\n", "\n\n", "\r\n\r\n",
		"event: ping\n\n", "event: ping\ndata: {}\n\n", "id: 8\n\n", "id\n\n", "foo: bar\n\n", "data: \"text\"\n\n", "data: 1\n\n", "event: x\n\n", ":\n",
	}
	pieces := []string{noise[0] + chunkRole + "id: 1\n" + chunkText}
	for _, n := range noise {
		pieces = append(pieces, n+chunkText)
	}
	pieces = append(pieces, "id: 9\n"+chunkFinish+chunkUsage+chunkDone)
	s := setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}, ChunkPace: 25 * time.Second}}, config: func(c *Config) {
		c.RequestTimeout, c.CommitDeadline = time.Hour, time.Hour
	}}
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Stream(pieces...))
		got := r.chat(askStream)
		if text := r.python(got); text != strings.Repeat("hi", len(noise)+1) {
			t.Errorf("text %q\n%s", text, got.body)
		}
		beats := 0
		for line := range strings.Lines(got.body) {
			switch field, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); {
			case line == ": hub\n":
				beats++
			case slices.Contains([]string{"id", "retry"}, field):
				t.Errorf("line %q", line)
			case strings.Contains(line, "sk-") || strings.HasPrefix(line, ":") && strings.Contains(line, "profile"):
				t.Errorf("told in a comment: %q", line)
			}
		}
		if beats < 2*len(noise)-2 {
			t.Errorf("only %d heartbeats: the test shows nothing", beats)
		}
	})
}

// T4 (cline/cline#8384, RooCodeInc/Roo-Code#9105): hand-written clients crash on a chunk without choices. They get the one
// with the token counts only when they asked for it.
func TestNoChunkWithoutChoices(t *testing.T) {
	f := func(ask, upstream string, without int) {
		t.Helper()
		r := newRig(t, setup{})
		r.sim.Push("a", simulator.Stream(upstream))
		chunks, err := oracle.DecodePython([]byte(r.chat(ask).body))
		if err != nil {
			t.Error(err)
		}
		found := 0
		for _, c := range chunks {
			switch choices := gjson.GetBytes(c, "choices"); {
			case !choices.IsArray():
				t.Errorf("choices are %s in %s", choices.Type, c)
			case len(choices.Array()) == 0:
				found++
			}
		}
		if found != without {
			t.Errorf("%d chunks without choices, want %d", found, without)
		}
	}
	f(askStream, chunkText+chunkFinish+chunkUsage+chunkDone, 0)
	f(askUsage, chunkText+chunkFinish+chunkUsage+chunkDone, 1)
	null := strings.Replace(chunkUsage, "[]", "null", 1)
	f(askStream, chunkText+chunkFinish+null+chunkDone, 0)
	f(askUsage, chunkText+chunkFinish+null+chunkDone, 1)
	f(askUsage, chunkText+`data: {"id":"c","choices":null}`+"\n\n"+chunkFinish+chunkUsage+chunkDone, 2)
}

// T7 (BerriAI/litellm#39898): a gateway ended cleanly when its upstream had died, and the truncated turn passed for whole.
// The upstream's stream is cut behind each of its bytes, by a clean end and by a reset: the client has the whole answer, or
// its library raises.
func TestCutAtEveryByte(t *testing.T) {
	whole := chunkRole + chunkText + chunkText + chunkFinish + chunkUsage + chunkDone
	ended := len(whole) - len(chunkUsage+chunkDone)
	for n := range len(whole) {
		for _, step := range []simulator.Step{
			simulator.Stream(whole[:n]),
			simulator.Raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s", max(n, 1), whole[:n])),
		} {
			// Two accounts, so that what was broken before its first byte shows as the other's answer.
			bubble(t, setup{accounts: []simulator.Account{
				{Name: "a", Key: "k1", Models: []string{"sim-1"}}, {Name: "b", Key: "k2", Models: []string{"sim-1"}, Answer: simulator.Say("all of b")},
			}}, func(t *testing.T, r *rig) {
				r.sim.Push("a", step)
				got := r.chat(askUsage)
				read := oracle.ReadHermes([]byte(got.body), got.err, oracle.Session{})
				served := got.header.Get(headerProfile)
				switch {
				case served == "b" && read.Ending == oracle.Complete && read.Text == "all of b":
				case served == "a" && read.Ending == oracle.Complete && read.Text == "hihi" && n >= ended-1:
				case served == "a" && read.Ending != oracle.Complete && got.err != nil && n < ended:
					if read.Usage || read.Finish != "" {
						t.Errorf("cut at %d: a part with %q, usage %v", n, read.Finish, read.Usage)
					}
				default:
					t.Errorf("cut at %d, %s: served by %s: %s, text %q, err %v", n, step, served, read.Ending, read.Text, got.err)
				}
			})
		}
	}
}

// T8, T9 (BerriAI/litellm#40404, #38610): a status 200 is no answer yet. What stalls or fails behind it, before any
// content, is another account's turn; and when all of them do so, the client gets a true status.
func TestSilentSuccess(t *testing.T) {
	role := strings.TrimSuffix(chunkRole, "\n\n") + "\n\n"
	stalls := simulator.StallHeartbeats.After(0)
	for _, step := range []simulator.Step{stalls, simulator.ErrorFirst, simulator.DoneOnly, simulator.EmptyDeltas, simulator.Stream(role)} {
		bubble(t, setup{config: func(c *Config) { c.CommitDeadline = 10 * time.Minute; c.RequestTimeout = time.Hour }}, func(t *testing.T, r *rig) {
			r.sim.Push("a", step)
			if got := r.chat(askStream); got.header.Get(headerProfile) != "b" || r.python(got) == "" {
				t.Errorf("%s: %s", step, got.line())
			}
			r.router.ClearCooldown("a")
			for _, name := range []string{"a", "b", "c"} {
				r.sim.Push(name, step)
			}
			if got := r.chat(askStream); got.status != http.StatusServiceUnavailable || oracle.Readable(got.header, []byte(got.body)) != nil {
				t.Errorf("%s everywhere: %s", step, got.line())
			}
		})
	}
}

// T10 (BerriAI/litellm#41777): a cut connection was called an invalid request, which no client retries. E09: on a stream of
// ours no event is named error, which a browser would take for its own.
func TestCutIsTheServersFault(t *testing.T) {
	for _, step := range []simulator.Step{simulator.CutReset, simulator.CutEOF, simulator.ErrorMidStream, simulator.Stall} {
		bubble(t, setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}, ChunkPace: time.Second}}}, func(t *testing.T, r *rig) {
			r.sim.Push("a", step)
			got := r.chat(askStream)
			_, err := oracle.DecodePython([]byte(got.body))
			frame, ok := errors.AsType[*oracle.FrameError](err)
			if !ok || got.err == nil {
				t.Fatalf("%s: %v, body ended with %v", step, err, got.err)
			}
			if kind, code := gjson.GetBytes(frame.Body, "type").Str, gjson.GetBytes(frame.Body, "code").Str; kind != "server_error" || code != "upstream_interrupted" || frame.Message == "" {
				t.Errorf("%s: %s", step, frame.Body)
			}
			if strings.Contains(got.body, "event:") {
				t.Errorf("%s: a named event: %s", step, got.body)
			}
		})
	}
}

// T17 (BerriAI/litellm#36008, #30630): what was counted is not lost because the stream did not end well.
func TestUsageOfBrokenStreams(t *testing.T) {
	s := setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}, ChunkPace: time.Second}}}
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Stream(chunkText, chunkUsage, chunkText)) // and no end
		got := r.chat(askUsage)
		r.want(got, "200 profile=a attempts=1 code=upstream_interrupted cut")
		if u := r.told.last().Attempts[0].Usage; !u.Known || u.Input != 3 || u.Output != 5 {
			t.Errorf("told %+v", u)
		}
	})
}

// T18 (open-webui/open-webui#23920, gadievron/raptor#547): an answer was decoded and still called compressed, or the other
// way round. An upstream that compresses unasked reaches the client as plain text, called so.
func TestContentEncoding(t *testing.T) {
	for _, body := range []string{ask, askStream} {
		r := newRig(t, setup{})
		r.sim.Push("a", simulator.Gzip)
		got := r.chat(body, "Accept-Encoding", "gzip, deflate, br")
		if e := got.header.Get("Content-Encoding"); e != "" || !strings.Contains(got.body, "simulated") {
			t.Errorf("Content-Encoding %q: %.100q", e, got.body)
		}
	}
}

// T19, T30 (gin-contrib/gzip#16, golang/go#27816, open-webui/open-webui#17626): events were held back, or joined to lines too
// long for their readers. Each event is at the client before the upstream has sent the next, and as it was.
func TestNothingIsHeldBack(t *testing.T) {
	r := newRig(t, setup{profiles: func(ps []router.Profile) { ps[0].MaxConcurrency = 1 }})
	r.sim.Push("a", simulator.Stall.After(1))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+"/v1/chat/completions", strings.NewReader(askStream))
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	// The upstream has stopped behind its first word: that it can be read at all is the proof.
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if gjson.Get(strings.TrimPrefix(line, "data: "), "choices.0.delta.content").Str != "" {
			break
		}
	}
	for _, size := range []int{4<<20 - 200, 5 << 20} { // less and more than is looked at
		long := `data: {"id":"c","choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", size) + `"},"finish_reason":null}]}` + "\n\n"
		r.sim.Reset("b", simulator.Stream(chunkText+long+chunkText+chunkFinish+chunkDone))
		if got := r.chat(askStream); got.body != chunkText+long+chunkText+chunkFinish+chunkDone || got.header.Get(headerProfile) != "b" {
			t.Errorf("%s: %d bytes, want %d", got.line(), len(got.body), len(chunkText+long+chunkText+chunkFinish+chunkDone))
		}
	}
}

// T20 (StringKe/claudex#6 and four alike): a small limit on bodies ended long sessions for good. 40 MiB pass under the
// default limit, 65 MiB are refused in a shape that libraries read.
func TestLargeBodies(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.MaxBodyBytes = 64 << 20 }})
	f := func(mib int) reply {
		body := append([]byte(`{"model":"sim-1","messages":[{"role":"user","content":"`), bytes.Repeat([]byte("x"), mib<<20)...)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+"/v1/chat/completions", bytes.NewReader(append(body, `"}]}`...)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return reply{res.StatusCode, res.Header, string(text), err}
	}
	r.want(f(40), "200 profile=a attempts=1")
	got := f(65)
	r.want(got, "413 code=request_too_large")
	if err := oracle.Readable(got.header, []byte(got.body)); err != nil {
		t.Error(err)
	}
}

// T27 (open-webui/open-webui#12452): a slow list of models blanked a page. It is answered from memory, whatever the accounts
// do.
func TestModelsAskNobody(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			r.sim.Push(name, simulator.Hang)
		}
		began := time.Now()
		if got := r.send(http.MethodGet, "/v1/models", ""); got.status != http.StatusOK || time.Since(began) != 0 {
			t.Errorf("%s after %s", got.line(), time.Since(began))
		}
		r.wantCalls("a=0 b=0 c=0")
	})
}

// T29 (danny-avila/LibreChat#13234): the details of token counts were dropped on the way.
func TestUsageDetails(t *testing.T) {
	use := simulator.Usage{Prompt: 100, Cached: 64, Completion: 30, Reasoning: 12}
	r := newRig(t, setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}, Usage: &use}}})
	for _, body := range []string{ask, askUsage} {
		got := r.chat(body).body
		for _, want := range []string{`"cached_tokens":64`, `"reasoning_tokens":12`, `"prompt_tokens":100`} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
	}
}
