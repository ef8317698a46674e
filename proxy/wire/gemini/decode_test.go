package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// What a model called and signed in one answer stands in the next request under the same ids, at the same calls, whichever
// way the client got it.
func TestIDsAndSignaturesComeBack(t *testing.T) {
	const answer = `{"candidates":[{"content":{"parts":[
		{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"c2lnMQ=="},
		{"functionCall":{"name":"read","args":{"path":"b"},"id":"fc_2"}}],"role":"model"},"finishReason":"STOP"}],
		"modelVersion":"gemini-3-flash-preview","responseId":"r1"}`
	events, err := DecodeAnswer([]byte(answer), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := chat.Answer{ID: "c", Model: "coder"}
	for i := range events {
		a.Add(&events[i])
	}
	var completion struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(a.Append(nil), &completion); err != nil {
		t.Fatal(err)
	}
	var message struct {
		Calls []struct{ ID string } `json:"tool_calls"`
	}
	if err := json.Unmarshal(completion.Choices[0].Message, &message); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	body.WriteString(`{"messages":[{"role":"user","content":"Look"},` + string(completion.Choices[0].Message))
	for _, c := range message.Calls {
		body.WriteString(`,{"role":"tool","tool_call_id":"` + c.ID + `","content":"ok"}`)
	}
	r, err := chat.Decode([]byte(body.String() + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := Encode(r, neutral.Target{Model: "gemini-3-flash-preview"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"functionCall":{"id":"` + message.Calls[0].ID + `","name":"read","args":{"path":"a"}},"thoughtSignature":"c2lnMQ=="}`,
		`{"functionCall":{"id":"fc_2","name":"read","args":{"path":"b"}}}`,
		`{"functionResponse":{"id":"` + message.Calls[0].ID + `","name":"read","response":{"result":"ok"}}},{"functionResponse":{"id":"fc_2","name":"read"`,
	} {
		if !strings.Contains(string(sent.Body), want) {
			t.Errorf("the next request lacks %s\n%s", want, sent.Body)
		}
	}
	if len(sent.Dropped) > 0 {
		t.Errorf("dropped %q", sent.Dropped)
	}
}

// Ids are made of what makes an answer unique, so that the same call in two turns has two.
func TestInventedIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, rest := range []string{`,"responseId":"r1"`, `,"responseId":"r2"`, `,"usageMetadata":{"promptTokenCount":1}`, `,"usageMetadata":{"promptTokenCount":2}`} {
		for range 2 { // an answer that is read again
			events, err := DecodeAnswer([]byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls"}},{"functionCall":{"name":"ls"}}]},"finishReason":"STOP"}]`+rest+`}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Kind == neutral.ToolStarted {
					seen[e.ID] = true
				}
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("four answers with two calls each have the ids %v", seen)
	}
}

// A decoder holds nothing of what it has read: the thousandth chunk costs what the first did.
func TestDecoderKeepsNothing(t *testing.T) {
	d := Decoder{}
	var events []neutral.Event
	data := []byte(textChunk)
	allocations := testing.AllocsPerRun(1000, func() {
		var err error
		if events, err = d.Decode(nil, data, events[:0]); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("a chunk of text costs %v allocations", allocations)
	}
}

// The model that the engine names decides where the answer names none.
func TestDecoderModel(t *testing.T) {
	const thought = `{"candidates":[{"content":{"parts":[{"thought":true,"text":"hm"},{"thought":true,"text":"","thoughtSignature":"RQ=="}]}}]}`
	d := CloudCodeDecoder{Decoder{Model: "claude-sonnet-4-5"}}
	events, err := d.Decode(nil, []byte(`{"response":`+thought+`}`), nil)
	if err != nil || len(events) != 3 {
		t.Fatalf("%v, %v", events, err)
	}
	if s := events[2].Seal; s.Format != neutral.SealAnthropic || s.Hidden || events[0].Name != "claude-sonnet-4-5" || events[1].Seal.Format != neutral.SealAnthropic {
		t.Errorf("%+v", events)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		textChunk,
		`{"response":` + textChunk + `}`,
		`[{"error":{"code":429}}]`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"x":"\u0000\\\""}},"thoughtSignature":"c2ln"},{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"executableCode":{"code":"1","language":"PYTHON"}}]},"finishReason":"STOP"}],"promptFeedback":{"blockReason":"SAFETY"}}`,
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, wrapped := range []bool{false, true} {
			var d Decoder
			out := chat.Stream{ID: "c", Model: "coder"}
			ended := false
			for _, data := range [][]byte{first, second} {
				events, err := d.decode(data, nil, wrapped)
				if err != nil {
					if len(events) > 0 {
						t.Fatalf("tells %d events of what it does not believe", len(events))
					}
					break
				}
				for i := range events {
					e := &events[i]
					if ended && e.Kind != neutral.Counted {
						t.Fatalf("kind %d behind the end", e.Kind)
					}
					ended = ended || e.Kind == neutral.Finished || e.Kind == neutral.Failed
					if e.Fault != nil && !json.Valid(e.Fault) || e.Text != nil && !json.Valid(e.Text) {
						t.Fatalf("%s %s", e.Fault, e.Text)
					}
					validChunks(t, out.Append(nil, e))
				}
			}
		}
	})
}

func validChunks(t *testing.T, text []byte) {
	t.Helper()
	for chunk := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		if data := strings.TrimPrefix(chunk, "data: "); data != "" && !json.Valid([]byte(data)) {
			t.Fatalf("wrote %s", chunk)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y","reasoning_details":[{"type":"reasoning.encrypted","data":"a","format":"google-gemini-v1"}],"tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{"}}]},{"role":"tool","tool_call_id":"1","content":"{\"a\":1}"}],"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"a":{"$ref":"#"}}}}}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"const":1}}}}`))
	f.Add([]byte(`{"messages":[{"role":"system","content":"x"},{"role":"assistant","content":""}],"reasoning_effort":"high","stop":["a"],"temperature":1e30,"top_k":3,"seed":1,"max_tokens":5}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := chat.Decode(body)
		if err != nil {
			return
		}
		for _, model := range []string{"gemini-4-argon", "gemini-3-pro-preview", "gemini-2.5-flash", "claude-opus-4-6-thinking", "gpt-oss-120b-medium"} {
			one, err := EncodeCloudCode(r, neutral.Target{Model: model})
			if err != nil {
				continue
			}
			if !json.Valid(one.Body) {
				t.Fatalf("%s: wrote %s", model, one.Body)
			}
			if again, err := EncodeCloudCode(r, neutral.Target{Model: model}); err != nil || string(again.Body) != string(one.Body) {
				t.Fatalf("%s: wrote another body the second time: %v", model, err)
			}
		}
	})
}
