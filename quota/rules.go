package quota

import (
	"time"

	"github.com/tidwall/gjson"
)

// rules are what a dialect adds to the common reading. The zero value adds nothing: that is the generic dialect.
type rules struct {
	codes    map[string]codeMeaning // looked up before commonCodes
	phrases  []phraseGroup          // believed before commonPhrases
	statuses map[int]Class          // what an HTTP status means here and nowhere else
	scopes   map[Class]Scope        // whose trouble a class is here, where it is not as in usualScopes
	zone     *time.Location         // of times that the provider writes without one; nil = unknown
	windows  map[string]string      // bucket ids of windows that go by a name: "7d" is "weekly"

	// header tells which window a header is about, beside x-ratelimit-*. The key is in canonical form.
	header func(key string) (window string, field windowField, ok bool)
	// windowID appends what the bucket of a window is called to the provider's name and a dot; nothing = no bucket. label is
	// the name that headers give the limit that the window belongs to. It runs on the hot path: it should not allocate.
	windowID func(id []byte, w window, label string) []byte
	// wordCode is the machine code that a message hides: "[1310][…]", "… (2056)". "" = none.
	wordCode func(message string) string
	// measure reads the buckets that a refusal states in its body, beside headers.
	measure func(*answer) []Bucket
	// events reads the buckets that a stream measures besides what it delivers.
	events func(*answer) []Bucket
	// answered is the error that the text of a whole answer is, where a proxy of this provider is known to do that.
	answered func(gjson.Result) string
	// usage reads the answer of the provider's usage endpoint; nil = it is none, empty = it measures nothing.
	usage func(*answer, gjson.Result) []Bucket
	// judge has the last word on what happened.
	judge func(*answer, verdict) verdict
	// wait is what the answer states about time in the provider's own way; it is believed first.
	wait func(*answer, verdict) (statedWait, bool)
}

// verdict is what happened and to whom.
type verdict struct {
	class     Class
	scope     Scope  // "" = that of the dialect
	family    string // for Reading.Family
	reason    string
	phrased   bool // it rests on words
	tokenRate bool // request_too_large because of a token rate, which another account may not have
	timeless  bool // what the answer states about time is false
	ownFault  bool // no other account would fare better
	again     bool // the same account is invited back at once
}

// usualScopes are the scopes of the classes with most providers.
var usualScopes = map[Class]Scope{
	OK: ScopeRequest, RateLimited: ScopeAccount, QuotaExhausted: ScopeAccount, Billing: ScopeAccount, AuthExpired: ScopeAccount,
	AuthInvalid: ScopeAccount, Forbidden: ScopeAccount, ModelNotFound: ScopeModel, ContextTooLong: ScopeRequest,
	RequestTooLarge: ScopeRequest, InvalidRequest: ScopeRequest, ContentPolicy: ScopeRequest, Overloaded: ScopeProvider,
	ServerError: ScopeProvider, Timeout: ScopeProvider,
}
