package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// maxDepth bounds nesting: deeper JSON is refused rather than walked.
const maxDepth = 512

// SyntaxError says where a body stops being JSON.
type SyntaxError struct {
	Offset int    // byte offset from 0
	What   string // what is wrong there
}

// Error prints the offset and what is wrong there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.What)
}

// cursor walks JSON text strictly (RFC 8259): no trailing commas, no bare control characters, no lone surrogates' worth of
// leniency that would let two readers see two documents. Its first error stays.
type cursor struct {
	data []byte
	pos  int
	err  *SyntaxError
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = &SyntaxError{Offset: c.pos, What: what}
	}
	c.pos = len(c.data)
}

func (c *cursor) space() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *cursor) peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return 0
}

// value skips one value of any kind and returns where it stands. It keeps its own stack of open brackets, one bit a
// level, so that hostile nesting costs neither stack nor heap.
func (c *cursor) value() Span {
	c.space()
	from := c.pos
	var open [maxDepth / 64]uint64 // bit set = object
	depth := 0
	for {
		c.space()
		if c.err != nil {
			return Span{}
		}
		opened := false
		switch b := c.peek(); b {
		case '{', '[':
			if depth == maxDepth {
				c.fail("nested too deeply")
				return Span{}
			}
			object := b == '{'
			c.pos++
			c.space()
			if c.peek() == b+2 { // '}' is '{'+2 and ']' is '['+2
				c.pos++
				break
			}
			if object {
				open[depth/64] |= 1 << (depth % 64)
				c.key()
			} else {
				open[depth/64] &^= 1 << (depth % 64)
			}
			depth++
			opened = true
		case '"':
			c.str()
		default:
			c.scalar()
		}
		for !opened {
			if c.err != nil {
				return Span{}
			}
			if depth == 0 {
				return Span{from, c.pos}
			}
			object := open[(depth-1)/64]&(1<<((depth-1)%64)) != 0
			c.space()
			b := c.peek()
			switch {
			case b == ',':
				c.pos++
				if object {
					c.space()
					c.key()
				}
				opened = true
			case b == '}' && object, b == ']' && !object:
				c.pos++
				depth--
			default:
				c.fail("expected a comma or a closing bracket")
			}
		}
	}
}

// key reads a member's name and its colon and returns the name without quotes, unescaped.
func (c *cursor) key() []byte {
	s := c.str()
	if c.err != nil {
		return nil
	}
	c.space()
	if c.peek() != ':' {
		c.fail("expected a colon after a member name")
		return nil
	}
	c.pos++
	return unescape(s.In(c.data))
}

// str reads a string and returns where it stands, quotes included.
func (c *cursor) str() Span {
	if c.peek() != '"' {
		c.fail("expected a string")
		return Span{}
	}
	from := c.pos
	c.pos++
	for {
		c.pos += plain(c.data[c.pos:])
		if c.pos >= len(c.data) {
			c.fail("unfinished string")
			return Span{}
		}
		switch b := c.data[c.pos]; {
		case b == '"':
			c.pos++
			return Span{from, c.pos}
		case b == '\\':
			c.escape()
			if c.err != nil {
				return Span{}
			}
		default:
			c.fail("control character in a string")
			return Span{}
		}
	}
}

func (c *cursor) escape() {
	if c.pos+1 >= len(c.data) {
		c.fail("unfinished string")
		return
	}
	switch c.data[c.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.pos += 2
	case 'u':
		if c.pos+6 > len(c.data) {
			c.fail("unfinished string")
			return
		}
		for _, h := range c.data[c.pos+2 : c.pos+6] {
			if (h < '0' || h > '9') && (h|0x20 < 'a' || h|0x20 > 'f') {
				c.fail("invalid \\u escape")
				return
			}
		}
		c.pos += 6
	default:
		c.fail("invalid escape")
	}
}

// plain counts the bytes before the first quote, backslash or control character, eight at a time.
func plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(b)-n >= 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		hit := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((w - ones*0x20) &^ w)
		if hit &= highs; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
		n += 8
	}
	for n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= 0x20 {
		n++
	}
	return n
}

// scalar skips a number or one of the three literals.
func (c *cursor) scalar() {
	rest := c.data[c.pos:]
	for _, word := range [...]string{"true", "false", "null"} {
		if len(rest) >= len(word) && string(rest[:len(word)]) == word {
			c.pos += len(word)
			return
		}
	}
	c.number()
}

func (c *cursor) number() {
	from := c.pos
	if c.peek() == '-' {
		c.pos++
	}
	switch b := c.peek(); {
	case b == '0':
		c.pos++
	case b >= '1' && b <= '9':
		c.digits()
	default:
		c.pos = from
		c.fail("expected a value")
		return
	}
	if c.peek() == '.' {
		c.pos++
		c.digits()
	}
	if c.err == nil && c.peek()|0x20 == 'e' {
		c.pos++
		if b := c.peek(); b == '+' || b == '-' {
			c.pos++
		}
		c.digits()
	}
}

func (c *cursor) digits() {
	from := c.pos
	for b := c.peek(); b >= '0' && b <= '9'; b = c.peek() {
		c.pos++
	}
	if c.pos == from {
		c.fail("expected a digit")
	}
}

// unescape returns what a quoted string says. Without an escape that is a slice of it.
func unescape(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return inner
	}
	return []byte(s)
}
