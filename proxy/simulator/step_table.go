package simulator

import "time"

const (
	usualRateWait  = 20 * time.Second
	usualUsageWait = 5 * time.Hour
)

// table is what the steps do, in the order of their names' declaration. Each row's play is in the file of its group.
var table = []row{
	{Normal, nothing, plain(playNormal), "answers as the account is made to, or refuses because its quota is spent"},

	{BadRequest, nothing, refuse(BadRequest), "400: a parameter is not supported"},
	{ContextTooLong, nothing, refuse(ContextTooLong), "400 context_length_exceeded"},
	{ContentPolicy, nothing, refuse(ContentPolicy), "400 content_policy_violation"},
	{Unauthorized, nothing, refuse(Unauthorized), "401 invalid_api_key"},
	{PaymentRequired, nothing, refuse(PaymentRequired), "402: the balance is used up (DeepSeek)"},
	{Forbidden, nothing, refuse(Forbidden), "403: the country is not supported"},
	{ForbiddenPage, nothing, refuse(ForbiddenPage), "403: a Cloudflare challenge, in HTML"},
	{NotFound, nothing, refuse(NotFound), "404 model_not_found"},
	{RequestTimeout, nothing, refuse(RequestTimeout), "408 without a body"},
	{Conflict, nothing, refuse(Conflict), "409"},
	{TooLarge, nothing, refuse(TooLarge), "413: too many bytes"},
	{RateLimited, duration, refuseFor(QuotaRate, usualRateWait), "429 rate_limit_exceeded with the wait in headers and text"},
	{RateLimitedBare, duration, refuseFor(QuotaProse, usualRateWait), "429 rate_limit_exceeded with the wait in the text alone"},
	{RateLimitedDate, duration, refuseUntil(usualRateWait), "429 with the wait as a date in Retry-After"},
	{RequestOverTokenLimit, nothing, refuse(RequestOverTokenLimit), "429: this request alone is over the limit"},
	{InsufficientQuota, nothing, refuse(InsufficientQuota), "429 insufficient_quota: no credit, no reset"},
	{UsageLimit, duration, refuseFor(QuotaCodex, usualUsageWait), "429 usage_limit_reached with the reset in headers and body (Codex)"},
	{ServerErrorAs429, nothing, refuse(ServerErrorAs429), "429 that is a server error"},
	{TooManyPage, nothing, refuse(TooManyPage), "429: Cloudflare limits the address, in HTML"},
	{ServerError, nothing, refuse(ServerError), "500"},
	{BadGatewayPage, nothing, refuse(BadGatewayPage), "502, in HTML"},
	{Overloaded, nothing, refuse(Overloaded), "503 server_is_overloaded"},
	{SlowDown, nothing, refuse(SlowDown), "503 slow_down"},
	{GatewayTimeout, nothing, refuse(GatewayTimeout), "504, in HTML"},
	{Overloaded529, nothing, refuse(Overloaded529), "529 overloaded_error"},
	{AnyStatus, status, playStatus, "the status of its argument, 500 without"},

	{Hang, nothing, plain((*exchange).hang), "sends nothing until the client goes away"},
	{SlowFirstToken, duration, playSlowFirstToken, "waits between the head and the first piece of the answer"},
	{Stall, number, cut((*exchange).hang), "stops in the middle until the client goes away"},
	{StallHeartbeats, number, cut(beatUntilGone), "stops in the middle but for a comment a second, until the client goes away"},

	{CloseBeforeHead, nothing, plain(before((*exchange).hangUp)), "hangs up before the head"},
	{ResetBeforeHead, nothing, plain(before((*exchange).reset)), "resets the connection before the head"},
	{CutReset, number, cut((*exchange).reset), "resets the connection in the middle"},
	{CutEOF, number, cut((*exchange).finish), "ends in the middle as if it were complete: no terminal marker"},
	{CutToolArguments, nothing, plain(cutTool((*exchange).finish)), "ends inside a tool call's arguments as if it were complete"},
	{ResetToolArguments, nothing, plain(cutTool((*exchange).reset)), "resets the connection inside a tool call's arguments"},
	{CutBeforeDone, nothing, plain(playCutBeforeDone), "ends after the finish reason without the protocol's last word"},
	{TruncatedChunk, number, playTruncatedChunk, "hangs up inside a chunk"},
	{MissingLastChunk, number, cut((*exchange).hangUp), "hangs up between two chunks"},
	{ShortContentLength, number, playShortContentLength, "promises more bytes than it sends"},
	{HTTP10Half, number, playHTTP10Half, "is cut in the middle of an HTTP/1.0 answer, where only the content can tell"},
	{HTTP10, nothing, plain(playHTTP10), "answers completely in HTTP/1.0, delimited by the connection's end"},

	{GarbageHead, nothing, plain(playGarbageHead), "answers what is not HTTP"},
	{PartialHead, nothing, plain(playPartialHead), "hangs up inside the head"},
	{HugeHead, nothing, plain(playHugeHead), "sends a header of 11 MiB"},
	{EarlyHints, number, playEarlyHints, "sends 103 ten times, then answers"},
	{Redirect, nothing, plain(playRedirect), "307 to another path of the same host"},

	{Gzip, nothing, plain(playGzip(true)), "answers compressed, asked or not"},
	{GzipBroken, nothing, plain(playGzip(false)), "answers compressed and cut in half"},
	{JSONError, nothing, plain(playJSONError), "200 with an error object, in JSON even to a stream request"},
	{LoginPage, nothing, plain(playLoginPage), "200 with an HTML page"},
	{EmptyBody, nothing, plain(playEmptyBody), "200 with an empty body"},
	{NoContent, nothing, plain(playNoContent), "204"},
	{ErrorFirst, nothing, plain(failAtOnce(isOverloaded)), "200 whose first event is an error"},
	{ErrorFirstQuota, nothing, plain(failAtOnce(hasNoQuota)), "200 whose first event is insufficient_quota"},
	{ErrorMidStream, number, failLater(isOverloaded), "an error event in the middle"},
	{RateLimitedMidStream, number, failLater(isRateLimited), "a rate_limit_exceeded event in the middle"},
	{CommentsOnly, nothing, plain(playCommentsOnly), "comments, then the end"},
	{EmptyDeltas, nothing, plain(playEmptyDeltas), "events that say nothing, then the end"},
	{DoneOnly, nothing, plain(playDoneOnly), "the protocol's last word alone; {} to a plain request"},
	{JSONToStream, nothing, plain(playJSONToStream), "one JSON to a stream request"},
	{StreamToPlain, nothing, plain(playStreamToPlain), "a stream to a plain request"},

	{UsageMissing, nothing, plain(playUsageMissing), "no token counts, though asked"},
	{UsageBeforeFinish, nothing, plain(reshape(usageBeforeFinish)), "token counts before the finish reason"},
	{FinishMissing, nothing, plain(reshape(finishMissing)), "no finish reason, but the protocol's last word"},
	{IDLines, nothing, plain(reshape(idLines)), "id: lines, and a retry: line first"},
	{CRLF, nothing, plain(reshape(crlf)), "lines that end in CR LF"},
	{BOM, nothing, plain(reshape(byteOrderMark)), "a byte order mark first"},
	{NoSpace, nothing, plain(reshape(noSpace)), "data: without a space"},
	{DataNull, nothing, plain(reshape(between("data: null\n\n"))), "data: null before every event"},
	{DataKeepalive, nothing, plain(reshape(between("data: : keepalive\n\n"))), "data: : keepalive before every event"},
	{ErrorNull, nothing, plain(rewire(errorNull)), `"error": null in every JSON`},
	{Comments, nothing, plain(reshape(between(": simulated heartbeat\n\n"))), "a comment before every event"},
	{HugeLine, nothing, plain(playHugeLine), "4 MiB in one event"},
	{SplitRunes, nothing, plain(playSplitRunes), "characters cut in two by the writes"},
	{DuplicateToolIndex, nothing, plain(playDuplicateToolIndex), "two tool calls under one index"},
	{IntIDs, nothing, plain(rewire(intIDs)), "numbers for ids"},
}

// plain is a play that takes no argument.
func plain(p play) func(*exchange, argument) error {
	return func(x *exchange, _ argument) error { return p(x) }
}
