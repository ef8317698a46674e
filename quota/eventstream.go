package quota

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
)

const (
	frameMin       = 16 // prelude, its checksum, and the message's
	framePrelude   = 12
	frameHeaderStr = 7 // the type of a header whose value is a string
)

// streamMessages unpacks Amazon's binary event stream (application/vnd.amazon.eventstream, Smithy's specification of
// event streams) into one line of JSON a message, nil when the bytes are none. An exception in it looks as the API's own
// documentation writes it: {"throttlingException":{…}}.
func streamMessages(b []byte) []byte {
	var out []byte
	for len(b) >= frameMin {
		size, headers := int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
		if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) || headers > size-frameMin || headers < 0 {
			return out
		}
		end := min(size-4, len(b)) // the last message may be cut
		start := min(framePrelude+headers, end)
		if name := exceptionName(b[framePrelude:start]); name != "" {
			payload := b[start:end]
			if !json.Valid(payload) {
				payload = []byte("{}")
			}
			out = append(append(append(out, '{'), quoted(name)...), ':')
			out = append(append(out, payload...), '}')
		} else {
			out = append(out, b[start:end]...)
		}
		out = append(out, '\n')
		b = b[min(size, len(b)):]
	}
	return out
}

// exceptionName is the exception that the headers of a message name.
func exceptionName(headers []byte) string {
	for len(headers) > 0 {
		n := int(headers[0])
		if len(headers) < n+4 || headers[n+1] != frameHeaderStr {
			return ""
		}
		name := string(headers[1 : n+1])
		size := int(binary.BigEndian.Uint16(headers[n+2:]))
		headers = headers[n+4:]
		if len(headers) < size {
			return ""
		}
		if name == ":exception-type" {
			return string(headers[:size])
		}
		headers = headers[size:]
	}
	return ""
}

// quoted writes a name as JSON.
func quoted(name string) []byte {
	text, _ := json.Marshal(name) //nolint:errcheck // a string always encodes
	return text
}
