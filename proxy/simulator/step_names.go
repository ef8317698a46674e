package simulator

// The steps, by what the client meets. Steps says what each does.
const (
	Normal StepName = "normal"

	// Refusals, each with a body as a provider was recorded to send it.
	BadRequest            StepName = "400"
	ContextTooLong        StepName = "400-context"
	ContentPolicy         StepName = "400-content-policy"
	Unauthorized          StepName = "401"
	PaymentRequired       StepName = "402"
	Forbidden             StepName = "403"
	ForbiddenPage         StepName = "403-html"
	NotFound              StepName = "404"
	RequestTimeout        StepName = "408"
	Conflict              StepName = "409"
	TooLarge              StepName = "413"
	RateLimited           StepName = "429"
	RateLimitedBare       StepName = "429-no-headers"
	RateLimitedDate       StepName = "429-http-date"
	RequestOverTokenLimit StepName = "429-too-large"
	InsufficientQuota     StepName = "429-insufficient-quota"
	UsageLimit            StepName = "429-usage-limit"
	ServerErrorAs429      StepName = "429-server-error"
	TooManyPage           StepName = "429-html"
	ServerError           StepName = "500"
	BadGatewayPage        StepName = "502"
	Overloaded            StepName = "503"
	SlowDown              StepName = "503-slow-down"
	GatewayTimeout        StepName = "504"
	Overloaded529         StepName = "529"
	AnyStatus             StepName = "status"

	// Time.
	Hang            StepName = "hang"
	SlowFirstToken  StepName = "slow-first-token"
	Stall           StepName = "stall"
	StallHeartbeats StepName = "stall-heartbeats"

	// Connections that end too early.
	CloseBeforeHead    StepName = "close-before-head"
	ResetBeforeHead    StepName = "reset-before-head"
	CutReset           StepName = "cut-reset"
	CutEOF             StepName = "cut-eof"
	CutToolArguments   StepName = "cut-tool-arguments"
	CutBeforeDone      StepName = "cut-before-done"
	TruncatedChunk     StepName = "truncated-chunk"
	MissingLastChunk   StepName = "missing-last-chunk"
	ShortContentLength StepName = "short-content-length"
	HTTP10Half         StepName = "http10-half"
	HTTP10             StepName = "http10"

	// Heads.
	GarbageHead StepName = "garbage-head"
	PartialHead StepName = "partial-head"
	HugeHead    StepName = "huge-head"
	EarlyHints  StepName = "early-hints"
	Redirect    StepName = "redirect"

	// Bodies that are no answer, or not the one that was asked for.
	Gzip                 StepName = "gzip"
	GzipBroken           StepName = "gzip-broken"
	JSONError            StepName = "json-error-200"
	LoginPage            StepName = "html-200"
	EmptyBody            StepName = "empty-200"
	NoContent            StepName = "204"
	ErrorFirst           StepName = "error-first"
	ErrorFirstQuota      StepName = "error-first-quota"
	ErrorMidStream       StepName = "error-mid-stream"
	RateLimitedMidStream StepName = "429-mid-stream"
	CommentsOnly         StepName = "comments-only"
	EmptyDeltas          StepName = "empty-deltas"
	DoneOnly             StepName = "done-only"
	JSONToStream         StepName = "json-to-stream"
	StreamToPlain        StepName = "stream-to-plain"

	// Odd but complete answers.
	UsageMissing       StepName = "usage-missing"
	UsageBeforeFinish  StepName = "usage-before-finish"
	FinishMissing      StepName = "finish-missing"
	IDLines            StepName = "id-lines"
	CRLF               StepName = "crlf"
	BOM                StepName = "bom"
	NoSpace            StepName = "no-space"
	DataNull           StepName = "data-null"
	DataKeepalive      StepName = "data-keepalive"
	ErrorNull          StepName = "error-null"
	Comments           StepName = "comments"
	HugeLine           StepName = "huge-line"
	SplitRunes         StepName = "split-runes"
	DuplicateToolIndex StepName = "duplicate-tool-index"
	IntIDs             StepName = "int-ids"
)

// table is what the steps do. Each row's play is in the file of its group.
var table = []row{
	{Normal, nothing, plain(playNormal), "answers as the account is made to, or refuses because its quota is spent"},
}
