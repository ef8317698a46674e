package wire

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestReadResponsesAndMessagesRequests(t *testing.T) {
	f := func(s Shape, body, want string) {
		t.Helper()
		r, err := ReadRequest([]byte(body), s)
		got := fmt.Sprintf("model=%s stream=%t session=%s", r.Model, r.Stream, r.Session)
		if r.Kept != (Kept{}) {
			got += fmt.Sprintf(" kept=%+v bound=%t", r.Kept, r.Kept.Bound())
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	const nothingKept = " kept={Store:true Background:false Previous: Conversation: Prompt:} bound=false"
	f(Responses, `{"model":"m","input":"hi","stream":true,"store":false,"prompt_cache_key":"k","include":["reasoning.encrypted_content"]}`, `model=m stream=true session=k`)
	f(Responses, `{"model":"m","input":[]}`, `model=m stream=false session=`+nothingKept)
	f(Responses, `{"model":"m","input":[],"store":null}`, `model=m stream=false session=`+nothingKept)
	f(Responses, `{"model":"m","previous_response_id":"resp_1","store":false}`, `model=m stream=false session= kept={Store:false Background:false Previous:resp_1 Conversation: Prompt:} bound=true`)
	f(Responses, `{"model":"m","conversation":{"id":"conv_1"},"store":false}`, `model=m stream=false session= kept={Store:false Background:false Previous: Conversation:conv_1 Prompt:} bound=true`)
	f(Responses, `{"conversation":"conv_1","prompt":{"id":"pmpt_1","version":"2"},"store":false}`, `model= stream=false session= kept={Store:false Background:false Previous: Conversation:conv_1 Prompt:pmpt_1} bound=true`)
	f(Responses, `{"model":"m","input":"x","background":true,"store":true}`, `model=m stream=false session= kept={Store:true Background:true Previous: Conversation: Prompt:} bound=false`)
	f(Responses, `{"model":"m"}`, `input is missing from the request body`)
	f(Responses, `{"model":"m","input":"x","store":1}`, `store must be a boolean, not a number`)
	f(Responses, `{"model":"m","input":"x","previous_response_id":{}}`, `previous_response_id must be a string, not an object`)
	f(Responses, `{"model":"m","input":"x","conversation":{"id":1}}`, `conversation.id must be a string, not a number`)
	f(Responses, `{"model":"m","input":"x","conversation":{"id":"a","id":"b"}}`, `conversation.id stands twice in the request body`)
	f(Responses, `{"model":"m","input":"x","Store":true}`, `Store must be spelled "store" in the request body`)
	f(Responses, `{"model":"m","input":"x","":1}`, `model=m stream=false session=`+nothingKept)

	f(Messages, `{"model":"m","max_tokens":1,"messages":[],"system":"s","metadata":{"user_id":"somebody"}}`, `model=m stream=false session=somebody`)
	f(Messages, `{"model":"m","messages":[],"metadata":{"user_id":"user_f00_account__session_0a1b-2c"}}`, `model=m stream=false session=0a1b-2c`)
	f(Messages, `{"model":"m","messages":[],"metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"0a1b\"}"}}`, `model=m stream=false session=0a1b`)
	f(Messages, `{"model":"m","messages":[],"metadata":{"user_id":"{\"session_id\":\"cut"}}`, `model=m stream=false session={"session_id":"cut`)
	f(Messages, `{"model":"m","messages":[],"metadata":{"user_id":"user_f00_session_"}}`, `model=m stream=false session=user_f00_session_`)
	f(Messages, `{"model":"m","messages":[],"metadata":{"user_id":null}}`, `model=m stream=false session=`)
	f(Messages, `{"model":"m","input":[]}`, `messages is missing from the request body`)
	// What means something to another kind is the provider's to judge.
	f(Messages, `{"model":"m","messages":[],"store":"x","prompt":1}`, `model=m stream=false session=`)

	f(TokenCount, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, `model=m stream=false session=`)
	f(TokenCount, `{"model":"m","messages":[],"stream":true}`, `stream cannot be true here: this answer has no stream`)
}

// Neither kind knows stream_options.include_usage: usage comes without asking.
func TestUpstreamAsksForUsageOnlyWhereItIsAsked(t *testing.T) {
	f := func(s Shape, body, want string) {
		t.Helper()
		r, err := ReadRequest([]byte(body), s)
		if err != nil {
			t.Fatal(err)
		}
		edits := r.Unstored([]byte(body), nil)
		edits = r.Upstream([]byte(body), "b", true, edits)
		if got := string(Splice(nil, []byte(body), edits)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	f(Messages, `{"messages":[ ],"stream":true,"model":"a"}`, `{"messages":[ ],"stream":true,"model":"b"}`)
	f(Responses, `{"input":"x","stream":true,"model":"a","store":true}`, `{"input":"x","stream":true,"model":"b","store":false}`)
	f(Responses, `{"store":null,"input":"x","model":"a"}`, `{"store":false,"input":"x","model":"b"}`)
	f(Responses, `{ "input":"x","store":false}`, `{"model":"b", "input":"x","store":false}`)
	f(Responses, `{"input":"x"}`, `{"store":false,"model":"b","input":"x"}`)
	f(Chat, `{"messages":[],"stream":true,"model":"a","store":true}`, `{"stream_options":{"include_usage":true},"messages":[],"stream":true,"model":"b","store":true}`)
}
