package simulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// TestRefusals proves that a call that no correct client sends, or that the account must not answer, gets OpenAI's error,
// takes no step of the script, and is remembered with the account it was meant for.
func TestRefusals(t *testing.T) {
	f := func(name, account string, change func(*http.Request), body, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, c client) {
				c.Push("a", simulator.ServerError)
				req := c.request(t.Context(), t, body)
				if change != nil {
					change(req)
				}
				resp, got, err := c.do(req)
				if err != nil {
					t.Fatal(err)
				}
				if got := resp.Status[:3] + " " + problemOf(t, got); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				calls := c.Calls(account)
				if len(calls) != 1 || calls[0].Step != "refused" || calls[0].End.IsZero() {
					t.Fatalf("the calls of account %q are %+v, want one, refused", account, calls)
				}
				resp, _, _ = c.ask(t, plainBody)
				if resp.StatusCode != 500 {
					t.Errorf("the next call got %s: the refused one took the step", resp.Status)
				}
			}, accountA, simulator.Account{Name: "b", Key: "sk-b"})
		})
	}
	header := func(name, value string) func(*http.Request) {
		return func(req *http.Request) { req.Header.Set(name, value) }
	}
	path := func(method, path string) func(*http.Request) {
		return func(req *http.Request) { req.Method, req.URL.Path = method, path }
	}

	f("no JSON", "a", nil, `{"model":`, `400 invalid_request_error - - We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)`)
	f("empty", "a", nil, ``, `400 invalid_request_error - - We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)`)
	f("no model", "a", nil, `{"messages":[{"role":"user","content":"hi"}]}`, `400 invalid_request_error - - you must provide a model parameter`)
	f("model of a wrong type", "a", nil, `{"model":7}`, `400 invalid_request_error model invalid_type Invalid type for 'model': expected string, but got number instead.`)
	f("no messages", "a", nil, `{"model":"gpt-5.5"}`, `400 invalid_request_error messages missing_required_parameter Missing required parameter: 'messages'.`)
	f("empty messages", "a", nil, `{"model":"gpt-5.5","messages":[]}`, `400 invalid_request_error messages empty_array Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.`)
	f("unknown role", "a", nil, `{"model":"gpt-5.5","messages":[{"role":"boss","content":"hi"}]}`, `400 invalid_request_error messages[0].role invalid_value Invalid value: 'boss'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`)
	f("usage of no stream", "a", nil, `{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true}}`, `400 invalid_request_error stream_options - The 'stream_options' parameter is only allowed when 'stream' is enabled.`)
	f("n of 0", "a", nil, `{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}],"n":0}`, `400 invalid_request_error n integer_below_min_value Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead.`)
	f("n of 129", "a", nil, `{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}],"n":129}`, `400 invalid_request_error n integer_above_max_value Invalid 'n': integer above maximum value. Expected a value <= 128, but got 129 instead.`)
	f("content type", "a", header("Content-Type", "text/plain"), plainBody, `400 invalid_request_error - unsupported_content_type Unsupported content type: 'text/plain'. This API method only accepts 'application/json' requests, but you specified the header 'Content-Type: text/plain'. Please try again with a supported content type.`)

	const wrong = `401 invalid_request_error - invalid_api_key Incorrect API key provided: sk-***. You can find your API key at https://platform.openai.com/account/api-keys.`
	f("wrong key", "", header("Authorization", "Bearer sk-x"), plainBody, wrong)
	f("wrong key of a named account", "a", func(req *http.Request) {
		req.URL.Path = "/v1/a/chat/completions"
		req.Header.Set("Authorization", "Bearer sk-b")
	}, plainBody, wrong)
	f("no key", "", header("Authorization", ""), plainBody, `401 invalid_request_error - - You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys.`)
	f("a stranger's body", "", header("Authorization", "Bearer sk-x"), `{`, wrong)
	f("unknown model", "a", nil, `{"model":"gpt-1","messages":[{"role":"user","content":"hi"}]}`, "404 invalid_request_error - model_not_found The model `gpt-1` does not exist or you do not have access to it.")
	f("unknown path", "a", path("POST", "/v1/embeddings"), plainBody, `404 invalid_request_error - - Invalid URL (POST /v1/embeddings)`)
	f("method", "a", path("PUT", "/v1/chat/completions"), plainBody, `405 invalid_request_error - method_not_supported Not allowed to PUT on /v1/chat/completions. (HINT: Perhaps you meant to use a different HTTP method?)`)
}

// problemOf is an OpenAI error as text: type, param, code, message.
func problemOf(t *testing.T, body []byte) string {
	t.Helper()
	var in struct {
		Error struct {
			Type    string
			Param   *string
			Code    *string
			Message string
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	word := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	return strings.Join([]string{in.Error.Type, word(in.Error.Param), word(in.Error.Code), in.Error.Message}, " ")
}

// TestModels proves the lists of models, which take no step and no quota.
func TestModels(t *testing.T) {
	f := func(path, key string, status int, want string) {
		t.Helper()
		bothWays(t, func(t *testing.T, c client) {
			c.Push("a", simulator.ServerError)
			req := c.request(t.Context(), t, "")
			req.Method, req.Body, req.ContentLength = http.MethodGet, http.NoBody, 0
			req.URL.Path = path
			req.Header.Set("Authorization", "Bearer "+key)
			resp, body, err := c.do(req)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != status || !strings.Contains(string(body), want) {
				t.Errorf("GET %s is %s %s, want %d with %s", path, resp.Status, body, status, want)
			}
			if resp.Header.Get("X-Simulated") != "true" {
				t.Error("the list is not labelled")
			}
		}, accountA, simulator.Account{Name: "b", Models: []string{"org/m"}}, simulator.Account{Name: "c", Key: "sk-c"})
	}

	f("/v1/models", "sk-a", 200, `{"object":"list","data":[{"id":"gpt-5.5","object":"model","created":`)
	f("/v1/models", "sk-a", 200, `,"owned_by":"simulated"}]}`)
	f("/v1/models", "anything", 200, `[{"id":"org/m",`) // account b takes any key
	f("/v1/c/models", "sk-c", 200, `"id":"org/m"`)      // account c has no list of its own
	f("/v1/models/gpt-5.5", "sk-a", 200, `{"id":"gpt-5.5",`)
	f("/v1/models/org/m", "", 200, `{"id":"org/m",`)
	f("/v1/models/gpt-1", "sk-a", 404, `"code":"model_not_found"`)
	f("/v1/models", "sk-a", 200, `"gpt-5.5"`)
	f("/v1/a/models", "sk-b", 401, `"code":"invalid_api_key"`)
}
