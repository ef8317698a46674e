package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes-hub/proxy/oracle"
)

// poison are words that some client takes for something else than what the hub means by them, wherever they stand.
var poison = []string{
	"content_filter", "your request was flagged by", "violates our usage policies", "new_sensitive", // a refusal of the prompt
	"max_tokens", "token limit", "context window", "input token", "exceeds the limit", // an overflow
	"stream_options", "insufficient balance", "credit balance", "quota", "out of memory", "memory limit exceeded",
	"authentication", "unauthorized", "forbidden", "rate limit", "overloaded", "at capacity", "cloudflare",
}

// chatClients are the clients of the surfaces that there are. Claude Code, Anthropic's library and Codex speak others.
var chatClients = []oracle.Client{
	oracle.OpenAIPython, oracle.OpenAINode6, oracle.OpenAINode7, oracle.OpenAIGo, oracle.AISDK, oracle.LangChainJS,
}

// wordingRules tells what is wrong with an error of the hub's own, in words.
func wordingRules(got reply, told envelopeError) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	now := wordingNow(told)
	for _, session := range wordingSessions(now) {
		v := oracle.ClassifyHermes(got.status, got.header, []byte(got.body), session)
		r := v.React(now)
		switch compresses := told.Code == codeContextTooLong || told.Code == codeBodyTooLarge; {
		case v.Reason != rightly[told.Code]:
			fail("Hermes %+v takes it for %s, it is %s", session, v.Reason, rightly[told.Code])
		case v.Compress != compresses:
			fail("Hermes shortens the history: %v, want %v", v.Compress, compresses)
		case v.StreamingOff || v.UsageOff:
			fail("Hermes changes how it asks for the rest of the session: %s", v)
		case v.Window != 0 && told.Code != codeContextTooLong:
			fail("Hermes reads a window of %d in it", v.Window)
		case told.ResetsAt > 0 && (v.ResetAt.Unix() != told.ResetsAt || r.Fallback != oracle.AtOnce || r.Wait > 10*time.Second):
			fail("Hermes thinks %s, and does %+v", v.ResetAt, r)
		case told.Code == codeUpstreamUnavailable && r.Bench != 0:
			fail("Hermes benches the hub's key for %s", r.Bench)
		}
	}
	lower := strings.ToLower(told.Message)
	for _, word := range poison {
		if strings.Contains(lower, word) && told.Code != codeContextTooLong {
			fail("%q is a word that misleads", word)
		}
	}
	return append(broken, headerRules(got, told)...)
}

// headerRules are about waiting: who is told how long, and that no library sleeps through what its user should know.
func headerRules(got reply, told envelopeError) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	final := told.Code == codeUsageLimit || told.Code == codePayment
	if no := got.header.Get("X-Should-Retry") == "false"; no != final {
		fail("x-should-retry: false is %v, want %v", no, final)
	}
	after := got.header.Get("Retry-After")
	if seconds, _ := strconv.Atoi(after); seconds != told.RetryAfter || seconds > 600 || after != "" && got.status != 503 {
		fail("Retry-After is %q, retry_after %d", after, told.RetryAfter)
	}
	if (told.ResetsAt > 0) != (told.ResetsInSeconds > 0) || told.ResetsAt > 0 && told.Code != codeUsageLimit {
		fail("resets_at %d, resets_in_seconds %d", told.ResetsAt, told.ResetsInSeconds)
	}
	for _, client := range chatClients {
		tries, wait := oracle.Retries(client, got.status, got.header, []byte(got.body))
		retries := tries > 1
		may := got.status >= 500 || slices.Contains([]code{codeBodyStalled, codeUsageLimit}, told.Code)
		switch {
		case retries && !may && (client != oracle.LangChainJS || got.status < 410): // LangChain retries what it does not know
			fail("%s sends it %d times", client, tries)
		case final && wait > 10*time.Second:
			fail("%s sleeps %s over it", client, wait)
		case told.RetryAfter == 0 && wait > 10*time.Second && client != oracle.LangChainJS: // whose backoff is a minute long
			fail("%s sleeps %s unasked", client, wait)
		}
	}
	return broken
}
