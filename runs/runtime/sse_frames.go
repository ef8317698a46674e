package runtime

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// sseFrame is one event of a server-sent stream.
type sseFrame struct {
	name    string // of its event: line, which Hermes does not send
	data    []byte
	tooLong bool // it was left out
}

// maxSSEFrame is the longest event that is read: the last one may hold the run's whole output.
const maxSSEFrame = 8 << 20

// sseFrames splits a stream into events. Comments, which keep it alive, are left out.
type sseFrames struct {
	r   *bufio.Reader
	max int
}

func newSSEFrames(r io.Reader) *sseFrames {
	return &sseFrames{bufio.NewReaderSize(r, 16<<10), maxSSEFrame}
}

// next is the next event, or the stream's error. An event that the stream's end cut short is given all the same, if it has
// data: whether that is whole shows by its JSON.
func (f *sseFrames) next() (sseFrame, error) {
	frame, begun := sseFrame{}, false
	for {
		line, tooLong, err := f.line()
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			frame.name = string(value)
		case "data":
			if begun {
				frame.data = append(frame.data, '\n')
			}
			frame.data, begun = append(frame.data, value...), true
			if tooLong || len(frame.data) > f.max {
				frame.data, frame.tooLong = nil, true
			}
		}
		switch {
		case begun && (err != nil || len(line) == 0):
			return frame, nil
		case err != nil:
			return sseFrame{}, err
		case len(line) == 0:
			frame = sseFrame{} // the end of a comment, or of an event without data
		}
	}
}

// line is the next line without its end. Of one that is too long only the beginning is given.
func (f *sseFrames) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := f.r.ReadSlice('\n')
		if room := f.max + len("data: \r\n") - len(line); len(part) > room {
			part, tooLong = part[:room], true
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), tooLong, err
	}
}
