package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Client is a client that retries by itself.
type Client string

// The clients, in the versions whose rules were read or measured.
const (
	OpenAIPython Client = "openai-python" // 3.3.1
	OpenAINode6  Client = "openai-node-6" // 6.49
	OpenAINode7  Client = "openai-node-7" // 7.59
	OpenAIGo     Client = "openai-go"     // 3.99
	Anthropic    Client = "anthropic"     // TypeScript 1.14, Go 1.84
	AISDK        Client = "ai-sdk"        // 6.0.326, 7.0.173
	LangChainJS  Client = "langchain-js"  // core 1.4
	Codex        Client = "codex"         // CLI, by its requests; its stream retries are left out
	ClaudeCode   Client = "claude-code"   // 2.1.270
)

// rule is how a client retries an answer.
type rule struct {
	tries    int
	first    time.Duration // of the waits that double
	last     time.Duration // their bound, 0 = none
	statuses []int         // retried below 500; from 500 on all are
	obeys    bool          // x-should-retry
	honours  time.Duration // the longest Retry-After that is slept
	beyond   beyond        // what a longer one means
}

// beyond is what a client does about a Retry-After that is too long for it.
type beyond int

const (
	ignore beyond = iota // it backs off as without one
	stop                 // it gives up
)

const endless = time.Duration(math.MaxInt64)

var rules = map[Client]rule{
	OpenAIPython: {3, 500 * time.Millisecond, 8 * time.Second, []int{408, 409, 429}, true, 120 * time.Second, stop},
	OpenAINode6:  {3, 500 * time.Millisecond, 8 * time.Second, []int{408, 409, 429}, true, endless, ignore},
	OpenAINode7:  {3, 500 * time.Millisecond, 8 * time.Second, []int{408, 409, 429}, true, 60 * time.Second, ignore},
	OpenAIGo:     {3, 500 * time.Millisecond, 8 * time.Second, []int{408, 409, 429}, true, 120 * time.Second, stop},
	Anthropic:    {3, 500 * time.Millisecond, 8 * time.Second, []int{408, 409, 429}, true, endless, ignore},
	AISDK:        {3, 2 * time.Second, 0, []int{408, 409, 429}, false, 60*time.Second - 1, ignore},
	LangChainJS:  {7, time.Second, 0, []int{408, 429}, false, 60 * time.Second, stop},
	Codex:        {5, 200 * time.Millisecond, 0, nil, false, 0, ignore},
	ClaudeCode:   {11, 500 * time.Millisecond, 32 * time.Second, []int{408, 409, 429}, false, 60 * time.Second, stop},
}

// Clients are all of them, in a fixed order.
func Clients() []Client {
	return []Client{OpenAIPython, OpenAINode6, OpenAINode7, OpenAIGo, Anthropic, AISDK, LangChainJS, Codex, ClaudeCode}
}

// Retries tells how often a client sends a request that is always answered like this, and how long it sleeps in between,
// all sleeps together and jitter left out. An answer that is no error is sent once.
func Retries(client Client, status int, header http.Header, body []byte) (tries int, wait time.Duration) {
	r := rules[client]
	asked, given := askedWait(header)
	given = given && (client != LangChainJS || status == http.StatusTooManyRequests)
	switch {
	case status < 400, given && asked > r.honours && r.beyond == stop, !r.again(client, status, header, body, given):
		return 1, 0
	}
	for n := range r.tries - 1 {
		pause := r.first << n
		if r.last > 0 {
			pause = min(pause, r.last)
		}
		if given && asked <= r.honours {
			pause = asked
			if client == LangChainJS {
				pause = max(asked, r.first<<n)
			}
		}
		wait += pause
	}
	return r.tries, wait
}

func (r rule) again(client Client, status int, header http.Header, body []byte, given bool) bool {
	if client == LangChainJS {
		return chainAgain(status, body, given)
	}
	if r.obeys {
		switch header.Get("X-Should-Retry") {
		case "true":
			return true
		case "false":
			return false
		}
	}
	return status >= 500 || slices.Contains(r.statuses, status)
}

// chainNever are the statuses that LangChain never retries.
var chainNever = []int{400, 401, 402, 403, 404, 405, 406, 407, 409, 413}

// chainSpent are the words by which LangChain tells a spent quota from a limit.
var chainSpent = regexp.MustCompile(`(?i)insufficient[_ -]?quota|exceeded (?:your|the current|the available).+quota|usage quota|quota (?:has been )?exhausted|billing|credit balance|out of credits|will reset at`)

// chainAgain: a 429 is retried only when it says how long to wait.
func chainAgain(status int, body []byte, given bool) bool {
	var told struct {
		Error struct{ Message, Code string }
	}
	_ = json.Unmarshal(body, &told) // what is no error object has no code
	switch {
	case slices.Contains(chainNever, status), told.Error.Code == "insufficient_quota":
		return false
	case status == http.StatusTooManyRequests:
		return given && !chainSpent.MatchString(told.Error.Message)
	}
	return true
}

// askedWait reads retry-after-ms, then Retry-After. A date is not looked at: the hub sends none.
func askedWait(h http.Header) (time.Duration, bool) {
	for _, unit := range []struct {
		name string
		one  time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(unit.name), 64); err == nil && n > 0 {
			return time.Duration(n * float64(unit.one)), true
		}
	}
	return 0, false
}

// Readable reports what keeps the OpenAI libraries from telling their user what an error says, nil when nothing does: the
// body must be a JSON object with an error object in it, whose message is not empty and whose code is a string.
func Readable(header http.Header, body []byte) error {
	var told struct {
		Error struct {
			Message string           `json:"message"`
			Type    string           `json:"type"`
			Code    *json.RawMessage `json:"code"`
		} `json:"error"`
	}
	if !bytes.HasPrefix([]byte(header.Get("Content-Type")), []byte("application/json")) {
		return fmt.Errorf("content type %q", header.Get("Content-Type"))
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return fmt.Errorf("read error body: %w", err)
	}
	var code string
	switch {
	case told.Error.Message == "":
		return fmt.Errorf("no message in %s", body)
	case told.Error.Type == "":
		return fmt.Errorf("no type in %s", body)
	case told.Error.Code == nil || json.Unmarshal(*told.Error.Code, &code) != nil || code == "":
		return fmt.Errorf("code is no string in %s", body)
	}
	return nil
}
