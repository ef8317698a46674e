package proxy

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
)

// Every error of the hub's own reads as its client's API has it: OpenAI's object with a code that is a string, or
// Anthropic's with one of its types and the request's id. What else the contract promises stands in both.
func TestDialects(t *testing.T) {
	types := []string{
		"invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error", "request_too_large",
		"rate_limit_error", "api_error",
	}
	seen := map[string]bool{}
	for _, c := range slices.Sorted(maps.Keys(meanings)) {
		e := refusal{code: c, message: "what is wrong", param: "model", retryAfter: 7, resetsAt: 8, resetsIn: 9}
		var told struct {
			Type  string
			Error struct {
				Type, Message, Code string
				RetryAfter          int `json:"retry_after"`
				ResetsAt            int `json:"resets_at"`
				ResetsIn            int `json:"resets_in_seconds"`
			}
			RequestID string `json:"request_id"`
		}
		for name, d := range map[string]*dialect{"OpenAI": &openAI, "Anthropic": &anthropic} {
			body := d.body(&e, "req_1")
			if err := json.Unmarshal(body, &told); err != nil || !d.legible(body) {
				t.Errorf("%s: %v %s", name, err, body)
			}
			if told.Error.Message != e.message || told.Error.Code != string(c) || told.Error.RetryAfter != 7 || told.Error.ResetsAt != 8 || told.Error.ResetsIn != 9 {
				t.Errorf("%s: %s", name, body)
			}
		}
		if err := json.Unmarshal(anthropic.body(&e, "req_1"), &told); err != nil || told.Type != "error" || told.RequestID != "req_1" || !slices.Contains(types, told.Error.Type) {
			t.Errorf("%s: %+v %v", c, told, err)
		}
		seen[told.Error.Type] = true
	}
	if len(seen) != len(types) {
		t.Errorf("types in use: %v", seen)
	}
}

// Who is refused before anybody knows what they want is told in the words of the API whose path they call.
func TestDialectByPath(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.Keys = []Key{{Name: "k"}} }})
	f := func(method, path string, isAnthropic bool) {
		t.Helper()
		got := r.send(method, path, `{}`)
		if legibleAnthropic([]byte(got.body)) != isAnthropic || !legibleOpenAI([]byte(got.body)) {
			t.Errorf("%s %s: %s", method, path, got.body)
		}
		if isAnthropic && got.header.Get("Request-Id") == "" {
			t.Errorf("%s %s has no id", method, path)
		}
	}
	f(http.MethodPost, "/v1/messages", true)
	f(http.MethodGet, "/v1/messages", true)
	f(http.MethodPost, "/v1/messages/batches", true)
	f(http.MethodPost, "/r/main/anthropic/v1/messages", true)
	f(http.MethodGet, "/r/main/anthropic/v1/models", true)
	f(http.MethodPost, "/v1/responses", false)
	f(http.MethodGet, "/v1/models", false)
	f(http.MethodPost, "/v1/chat/completions", false)
}

// A refusal that an account words itself passes as it is only to clients of its own protocol that can read it.
func TestLegible(t *testing.T) {
	f := func(body string, openai, anthropic bool) {
		t.Helper()
		if legibleOpenAI([]byte(body)) != openai || legibleAnthropic([]byte(body)) != anthropic {
			t.Errorf("%s: %t, %t", body, legibleOpenAI([]byte(body)), legibleAnthropic([]byte(body)))
		}
	}
	f(`{"error":{"message":"m","code":"c"}}`, true, false)
	f(`{"type":"error","error":{"type":"t","message":"m"}}`, true, true)
	f(`{"type":"error","error":{"message":"m"}}`, true, false)
	f(`{"error":{"message":"m","code":400}}`, false, false)
	f(`{"error":{"message":""}}`, false, false)
	f(`{"error":"m"}`, false, false)
	f(`<html>`, false, false)
}
