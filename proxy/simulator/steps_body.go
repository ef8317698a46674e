package simulator

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

const hugeLine = 4 << 20

const loginPage = `<!DOCTYPE html><html><head><title>Sign in (simulated)</title></head><body><form action="/login" method="post"><input name="user"><input name="password" type="password"></form></body></html>`

// playGzip answers compressed, asked or not: all of it, or the first half.
func playGzip(whole bool) play {
	return func(x *exchange) error {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(join(x.events(x.say()))) // a bytes.Buffer takes everything
		_ = w.Close()
		body := b.Bytes()
		if !whole {
			body = body[:len(body)/2]
		}
		return x.playBody(with(x.ok(x.contentType()), "Content-Encoding", "gzip"), body)
	}
}

// playBody answers 200 with the body.
func (x *exchange) playBody(h http.Header, body []byte) error {
	if err := x.pause(x.account.Latency); err != nil {
		return err
	}
	return x.whole(http.StatusOK, h, body)
}

func playJSONError(x *exchange) error {
	return x.playWhole(x.dialect.bodyOf(isOverloaded(x), x.stamp))
}

func playLoginPage(x *exchange) error {
	return x.playBody(x.ok("text/html; charset=utf-8"), []byte(loginPage))
}

func playEmptyBody(x *exchange) error { return x.playBody(x.ok(x.contentType()), nil) }

func playNoContent(x *exchange) error {
	if err := x.pause(x.account.Latency); err != nil {
		return err
	}
	x.end(nil)
	return x.head(http.StatusNoContent, nil)
}

// failAtOnce answers 200 and tells of the problem in the body.
func failAtOnce(p func(*exchange) *problem) play {
	return func(x *exchange) error {
		if !x.req.Stream {
			return x.playWhole(x.dialect.bodyOf(p(x), x.stamp))
		}
		return x.playEvents(contentStream, []event{x.dialect.failure(x.req, p(x), x.stamp, 0)})
	}
}

// failLater tells of the problem after a part of the answer. A whole answer has no such place: the problem is all of it.
func failLater(p func(*exchange) *problem) func(*exchange, argument) error {
	return func(x *exchange, a argument) error {
		if !x.req.Stream {
			return x.playWhole(x.dialect.bodyOf(p(x), x.stamp))
		}
		events := x.events(x.say())
		head := upTo(events, half(events, a))
		return x.playEvents(contentStream, append(head[:len(head):len(head)], x.dialect.failure(x.req, p(x), x.stamp, len(head))))
	}
}

func isOverloaded(x *exchange) *problem { return x.recorded(Overloaded) }

func hasNoQuota(x *exchange) *problem { return x.recorded(InsufficientQuota) }

func isRateLimited(x *exchange) *problem { return spentFor(x, QuotaRate, usualRateWait) }

// playCommentsOnly sends what keeps a connection alive and no more: comments, or white space before a JSON.
func playCommentsOnly(x *exchange) error {
	comment := event{kind: eventOther, wire: []byte(": simulated heartbeat\n\n")}
	if !x.req.Stream {
		comment.wire = []byte("\n")
	}
	return x.playEvents(x.contentType(), []event{comment, comment, comment})
}

// playEmptyDeltas sends events that say nothing, or an answer that says nothing.
func playEmptyDeltas(x *exchange) error {
	if !x.req.Stream {
		return x.playAnswer(x.counted(Answer{}))
	}
	noop := x.dialect.noop(x.req, x.stamp)
	return x.playEvents(contentStream, []event{noop, noop, noop})
}

// playDoneOnly sends the protocol's last word and nothing else.
func playDoneOnly(x *exchange) error {
	if !x.req.Stream {
		return x.playWhole([]byte("{}"))
	}
	events := x.events(x.counted(Answer{}))
	return x.playEvents(contentStream, events[len(events)-1:])
}

func playJSONToStream(x *exchange) error {
	return x.playWhole(x.dialect.whole(x.req, x.say(), x.stamp))
}

func playStreamToPlain(x *exchange) error {
	return x.playEvents(contentStream, x.dialect.events(x.req, x.say(), x.stamp))
}

// playHugeLine answers with 4 MiB in one event.
func playHugeLine(x *exchange) error {
	ans := x.say()
	ans.Text = strings.Repeat("simulated_", hugeLine/len("simulated_"))
	return x.playAnswer(ans)
}
