package wire

import "bytes"

// wants notes what a member that does not route says of the model that a request needs. The members are those of all
// kinds: none of the names means something else in another.
func (r *Request) wants(name []byte, value Span, body []byte) {
	switch string(name) {
	case "tools", "functions":
		v := value.In(body)
		r.Tools = r.Tools || v[0] == '[' && says(v)
	case "response_format", "text", "output_format", "output_config":
		r.Structured = r.Structured || bytes.Contains(value.In(body), []byte(`"json_schema"`))
	}
}

// HasImage reports whether there is an image in the conversation of a request, which is the member of that name. The body
// must be one that ReadRequest has taken.
func HasImage(body []byte, conversation string) bool {
	if !bytes.Contains(body, []byte("image")) {
		return false
	}
	for _, turn := range ElementsOf(body, fields(body, whole(body), conversation)[0]) {
		f := fields(body, turn, "content", "output")
		if imageIn(body, f[0], 1) || imageIn(body, f[1], 1) {
			return true
		}
	}
	return false
}

// imageIn looks through a list of parts, and so many levels of lists in them: the results of tools.
func imageIn(body []byte, list Span, deeper int) bool {
	for _, part := range ElementsOf(body, list) {
		f := fields(body, part, "type", "content")
		switch string(f[0].In(body)) {
		case `"image_url"`, `"image"`, `"input_image"`:
			return true
		}
		if deeper > 0 && imageIn(body, f[1], deeper-1) {
			return true
		}
	}
	return false
}

// mediaFrom is how long a string of base64 must be to be taken for an image or a file rather than for words.
const mediaFrom = 1 << 10

// TextBytes is how many bytes of a well-formed body are not images or files: long strings of base64, which a model does not
// read as text.
func TextBytes(body []byte) int {
	n := len(body)
	for c := (cursor{data: body}); ; {
		at := bytes.IndexByte(body[c.pos:], '"')
		if at < 0 {
			return n
		}
		c.pos += at
		s := c.str()
		if c.err != nil {
			return n
		}
		if s.To-s.From > mediaFrom && isMedia(s.In(body)) {
			n -= s.To - s.From
		}
	}
}

// isMedia reports whether a long string is base64, perhaps behind the head of a data: address. Its beginning tells.
func isMedia(quoted []byte) bool {
	text := quoted[1:]
	if head, rest, ok := bytes.Cut(text[:mediaFrom], []byte(";base64,")); ok && bytes.HasPrefix(head, []byte("data:")) {
		text = rest
	} else {
		text = text[:mediaFrom]
	}
	for _, b := range text {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '+', b == '/', b == '-', b == '_', b == '=':
		default:
			return false
		}
	}
	return true
}
