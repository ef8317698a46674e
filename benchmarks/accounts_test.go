package benchmarks

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/proxy/wire"
	"hermes-hub/router"
)

// account is a kind of account that a chain may have.
type account struct {
	protocol        router.Protocol
	provider, model string
}

const chatPath = "/v1/chat/completions"

var chatAccount = account{router.ProtocolChat, "openai-compatible", "gpt-5.5"}

// way is a client in front of accounts of a kind. It is translated where they speak another protocol, and passed through where
// they speak the client's.
type way struct {
	name    string
	path    string
	account account
	ask     string // a streamed request
}

// chatWays are those of a chat client, over accounts of every protocol.
func chatWays() []way {
	var ways []way
	for _, a := range []account{
		chatAccount,
		{router.ProtocolMessages, "claude", "claude-sonnet-4-5"},
		{router.ProtocolResponses, "openai", "gpt-5.5"},
		{router.ProtocolGemini, "gemini", "gemini-3-flash-preview"},
		{router.ProtocolCloudCode, "antigravity", "gemini-3-flash-preview"},
	} {
		ways = append(ways, way{string(a.protocol), chatPath, a, request(a.model, 1<<10, true)})
	}
	return ways
}

// translatedWays are those of a chat client, and those of a client of Responses over accounts of every other protocol.
func translatedWays() []way {
	ways := chatWays()
	for _, w := range chatWays() {
		if w.account.protocol != router.ProtocolResponses {
			ways = append(ways, way{"responses over " + w.name, "/v1/responses", w.account, `{"model":"` + w.account.model + `","input":"hi","stream":true}`})
		}
	}
	return ways
}

// ways are those of all clients whose answers need not be held. Responses say at their end again what they have said.
func ways() []way {
	return append(chatWays(),
		way{
			"messages passed through", "/v1/messages",
			account{router.ProtocolMessages, "claude", "claude-sonnet-4-5"},
			`{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"hi"}],"stream":true}`,
		},
		way{
			"responses passed through", "/v1/responses",
			account{router.ProtocolResponses, "openai", "gpt-5.5"},
			`{"model":"gpt-5.5","input":"hi","store":false,"stream":true}`,
		},
	)
}

// tape is a simulated provider whose last answer is kept.
type tape struct {
	*simulator.Provider
	contentType string
	body        []byte
}

func (t *tape) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.Provider.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	t.contentType = res.Header.Get("Content-Type")
	if t.body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(t.body))
	return res, nil
}

// recorded is what a simulated account of the kind answers to the request: as its provider would, and strict about what it
// is sent.
func recorded(tb testing.TB, w way, body, text string) canned {
	tb.Helper()
	sim := simulator.New(simulator.Account{Name: "account", Answer: simulator.Say(text)})
	sim.Strict(tb)
	tb.Cleanup(sim.Close)
	t := &tape{Provider: sim}
	said(tb, hub(tb, w.account, t), w.path, body)
	return canned{t.contentType, t.body}
}

// said is what the client is told.
func said(tb testing.TB, h http.Handler, path, body string) string {
	tb.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, ask(tb, path, body))
	if rec.Code != http.StatusOK {
		tb.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// script is how an account streams its answers: what comes before, one piece of text, what comes behind.
type script struct {
	contentType       string
	head, piece, tail string
}

// scriptOf is the script of a way's accounts whose pieces all say word.
func scriptOf(tb testing.TB, w way, word string) script {
	tb.Helper()
	whole := recorded(tb, w, w.ask, strings.Repeat(word+" ", 3))
	s := script{contentType: whole.contentType}
	var split wire.Splitter
	rest, pieces := whole.body, 0
	for {
		e, n := split.Split(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
		switch said := bytes.Contains(e.Data, []byte(word)); {
		case said && pieces == 1:
			s.piece = string(e.Raw)
			pieces++
		case pieces < 2:
			s.head += string(e.Raw)
			if said {
				pieces++
			}
		default:
			s.tail += string(e.Raw)
		}
	}
	if s.piece == "" || s.tail == "" {
		tb.Fatalf("no script in %s", whole.body)
	}
	return s
}

// stream is an answer of so many pieces.
func (s script) stream(pieces int) canned {
	return canned{s.contentType, []byte(s.head + strings.Repeat(s.piece, pieces-2) + s.tail)}
}

// check verifies that the client of a way gets every piece, and the end.
func (s script) check(tb testing.TB, w way, word string) {
	tb.Helper()
	const pieces = 20
	got := said(tb, hub(tb, w.account, s.stream(pieces)), w.path, w.ask)
	if n := strings.Count(got, `"`+word+` "`); n != pieces || w.path == chatPath && !strings.HasSuffix(got, "data: [DONE]\n\n") {
		tb.Fatalf("%d pieces of %d in %s", n, pieces, got)
	}
}
