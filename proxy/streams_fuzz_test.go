package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"hermes-hub/proxy/wire"
	"hermes-hub/router"
)

// Whatever an account streams, over every pair of protocols: the client gets an answer that is whole, an error, or a stream
// that ends in its protocol's error and a cut. What it gets is events whose data is JSON; nothing is held any more; nothing
// panics.
func FuzzStreams(f *testing.F) {
	ways := []struct {
		account   router.Protocol
		path, ask string
	}{
		{router.ProtocolChat, "/v1/chat/completions", askStream},
		{router.ProtocolMessages, "/v1/messages", messagesAsk},
		{router.ProtocolResponses, "/v1/responses", responsesAsk},
		{router.ProtocolMessages, "/v1/chat/completions", askStream},
		{router.ProtocolResponses, "/v1/chat/completions", askStream},
		{router.ProtocolGemini, "/v1/chat/completions", askStream},
		{router.ProtocolCloudCode, "/v1/chat/completions", askStream},
		{router.ProtocolChat, "/v1/responses", responsesAsk},
		{router.ProtocolMessages, "/v1/responses", responsesAsk},
		{router.ProtocolGemini, "/v1/responses", responsesAsk},
		{router.ProtocolCloudCode, "/v1/responses", responsesAsk},
	}
	for i, o := range owns() {
		f.Add(i, []byte(o.start+o.text+o.end))
		f.Add(i, []byte(o.start+o.text))
	}
	for i, a := range accountsOfOthers() {
		f.Add(3+i, []byte(a.start+a.text+a.end))
		f.Add(3+i, []byte("event: error\ndata: "+a.refusal+"\n\n"))
	}
	for i, a := range accountsOfResponses() {
		f.Add(7+i, []byte(a.start+a.text+a.end))
		f.Add(7+i, []byte(a.start+a.text))
	}
	f.Fuzz(func(t *testing.T, way int, stream []byte) {
		w := ways[max(way, -(way+1))%len(ways)]
		r := newRig(t, setup{direct: true, profiles: speaking(w.account)})
		defer r.sim.Close()
		r.proxy.transport = func(*router.Profile) http.RoundTripper {
			return canned(func(*http.Request) (int, string, string) { return http.StatusOK, "text/event-stream", string(stream) })
		}
		got := r.send(http.MethodPost, w.path, w.ask)
		told := r.told.last()
		switch {
		case got.status != http.StatusOK && !json.Valid([]byte(got.body)):
			t.Errorf("%d %q", got.status, got.body)
		case got.status == http.StatusOK && (got.err == nil) != (told.Outcome == "success"):
			t.Errorf("told as %s, and ended with %v: %q", told.Outcome, got.err, got.body)
		case got.status == http.StatusOK:
			events(t, []byte(got.body))
		}
		if held := r.router.Leases(); len(held) != 0 {
			t.Errorf("leases still held: %+v", held)
		}
	})
}

// events checks that every event of a stream holds JSON, or is the end mark.
func events(t *testing.T, stream []byte) {
	t.Helper()
	var split wire.Splitter
	for len(stream) > 0 {
		e, n := split.Split(stream)
		if n == 0 {
			t.Errorf("the client is left with %q", stream)
			return
		}
		stream = stream[n:]
		if data := bytes.TrimSpace(e.Data); !e.Comment() && string(data) != "[DONE]" && !json.Valid(data) {
			t.Errorf("an event of %q", e.Raw)
		}
	}
}
