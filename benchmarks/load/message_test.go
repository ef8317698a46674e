package main

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

func TestMessage(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		r := bufio.NewReader(strings.NewReader(strings.ReplaceAll(text, "|", "\r\n")))
		var got strings.Builder
		var m message
		for {
			if err := m.read(r); err != nil {
				fmt.Fprint(&got, err)
				break
			}
			fmt.Fprintf(&got, "%s %q last=%t body=%q, ", m.start, m.kind, m.last, m.body)
		}
		if got.String() != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, &got, want)
		}
	}
	f("", "EOF")
	f("HTTP/1.1 200 OK|content-length: 5|Content-Type: application/json; charset=utf-8||hello", `HTTP/1.1 200 OK "application/json" last=false body="hello", EOF`)
	f("A|Content-Length: 1||xB|Content-Length: 0|Connection: close||", `A "" last=false body="x", B "" last=true body="", EOF`)
	f("A|Transfer-Encoding: chunked||5|hello|a| and so on|0||B|Content-Length: 0||", `A "" last=false body="hello and so on", B "" last=false body="", EOF`)

	f("HTTP/1.1 200", "unexpected EOF")
	f("A|Content-Length: 5", "read head: unexpected EOF")
	f("A|Content-Length: 5||hell", "read body: unexpected EOF")
	f("A|Transfer-Encoding: chunked||5|hello|", "read chunk after 5 bytes: unexpected EOF")
	f("A|Transfer-Encoding: chunked||5|hel", "read chunk after 3 bytes: read body: unexpected EOF")
	f("A|Transfer-Encoding: chunked||5|hello!|0||", `read chunk after 5 bytes: chunk followed by "!\r\n"`)
	f("A|Transfer-Encoding: chunked||x|", `read chunk after 0 bytes: chunk of size "x\r\n"`)
	f("A|Content-Length: -5||", `Content-Length "-5"`)
	f("A|Content-Length: 99999999999||", `Content-Length "99999999999"`)
	f("A||hello", "body without a length")
}

func FuzzMessage(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
	f.Add("A\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := bufio.NewReader(strings.NewReader(text))
		var m message
		for m.read(r) == nil {
			if len(m.body) > len(text) || !m.split && len(m.body) != m.length {
				t.Fatalf("body of %d bytes in a text of %d", len(m.body), len(text))
			}
		}
	})
}
