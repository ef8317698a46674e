package simulator

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// errGone ends a play whose client went away.
var errGone = errors.New("the client went away")

// exchange is one call and what was written in answer to it. Everything a Step does, it does with the methods below; each
// sees to it that the call has left the account's count before the client can see the end of the answer, so that a client
// that keeps to a limit is never one too many.
type exchange struct {
	p       *Provider
	conn    net.Conn
	gone    <-chan struct{} // closed when the client went away
	account *account
	dialect *dialect
	path    string // of the call, without the query
	req     Request
	stamp   stamp
	header  http.Header // of the quota, for normal answers

	call     *Call // written with Provider.mu held
	inFlight bool  // likewise
	ended    bool
	broken   bool // the connection can carry no further answer
}

// head writes the head of an answer.
func (x *exchange) head(status int, h http.Header) error {
	return x.raw(x.headText("HTTP/1.1", status, h))
}

// headText is the head of an answer, labelled as simulated.
func (x *exchange) headText(proto string, status int, h http.Header) []byte {
	x.noteStatus(status)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d %s\r\n", proto, status, http.StatusText(status))
	own := http.Header{
		"Date":        {x.p.Now().UTC().Format(http.TimeFormat)},
		"X-Simulated": {"true"},
	}
	own.Set(x.dialect.idHeader, requestID(x.stamp))
	maps.Copy(own, h)
	_ = own.Write(&b) // a bytes.Buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// requestID names the call.
func requestID(st stamp) string { return fmt.Sprintf("req_simulated%06d", st.serial) }

// whole writes an answer of known length.
func (x *exchange) whole(status int, h http.Header, body []byte) error {
	if err := x.present(); err != nil {
		return err
	}
	text := x.headText("HTTP/1.1", status, with(h, "Content-Length", strconv.Itoa(len(body))))
	x.end(nil)
	return x.raw(append(text, body...))
}

// open writes the head of an answer whose pieces follow, each by send.
func (x *exchange) open(status int, h http.Header) error {
	return x.head(status, with(h, "Transfer-Encoding", "chunked"))
}

// send writes one piece of an open answer as a chunk of its own.
func (x *exchange) send(piece []byte) error {
	return x.raw(fmt.Appendf(nil, "%x\r\n%s\r\n", len(piece), piece))
}

// finish ends an open answer as the protocol of HTTP wants it.
func (x *exchange) finish() error {
	x.end(nil)
	return x.raw([]byte("0\r\n\r\n"))
}

// sendLast is send and finish in one write.
func (x *exchange) sendLast(piece []byte) error {
	x.end(nil)
	return x.raw(fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(piece), piece))
}

// raw writes bytes as they are.
func (x *exchange) raw(wire []byte) error {
	if _, err := x.conn.Write(wire); err != nil {
		x.broken = true
		return errGone
	}
	return nil
}

// hangUp closes the connection: the client sees the end of file.
func (x *exchange) hangUp() error {
	x.end(nil)
	x.broken = true
	return nil
}

// reset resets the connection: the client sees "connection reset by peer".
func (x *exchange) reset() error {
	x.end(nil)
	x.broken = true
	if l, ok := x.conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = l.SetLinger(0) // fails only when the client was first to close
	}
	_ = x.conn.Close() // likewise
	return nil
}

// pause waits; a client that goes away meanwhile ends it.
func (x *exchange) pause(d time.Duration) error {
	if d <= 0 {
		return x.present()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.gone:
		return errGone
	}
}

// hang waits until the client goes away.
func (x *exchange) hang() error {
	<-x.gone
	return errGone
}

// present reports errGone when the client is known to have gone away.
func (x *exchange) present() error {
	select {
	case <-x.gone:
		return errGone
	default:
		return nil
	}
}

// end takes the call out of flight. The first end of a call counts.
func (x *exchange) end(err error) {
	if x.ended {
		return
	}
	x.ended = true
	now := x.p.Now()
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	defer x.p.announce()
	x.call.End = now
	if x.inFlight {
		x.account.inFlight--
	}
	if errors.Is(err, errGone) {
		x.call.Cancelled = true
		x.account.cancelled++
	}
}

func (x *exchange) noteStatus(status int) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.call.Status = status
}

// with is h and one more field, in a header of its own.
func with(h http.Header, name, value string) http.Header {
	h = h.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(name, value)
	return h
}
