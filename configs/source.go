package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes is far above any real file and keeps a wrong path from filling the memory.
const maxFileBytes = 4 << 20

const writeOne = "`hermes-hub serve --init` writes one to start from"

// document reads data as the one YAML mapping it must be. It reports what is wrong and answers nil then.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > maxFileBytes {
		r.fail(place{1, 1}, "the file is larger than %d bytes", maxFileBytes)
		return nil
	}
	if !utf8.Valid(data) {
		r.fail(firstInvalid(data), "the file is not UTF-8 text")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) {
		r.fail(place{1, 1}, "the file is empty; %s", writeOne)
		return nil
	}
	if err == nil {
		err = decoder.Decode(&second)
	}
	switch {
	case err == nil:
		r.fail(place{second.Line, second.Column}, "a second YAML document begins here; one file holds one")
		return nil
	case !errors.Is(err, io.EOF):
		r.reportBroken(data, err)
		return nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		r.fail(place{1, 1}, "the file is empty; %s", writeOne)
		return nil
	}
	if root.Kind != yaml.MappingNode {
		r.fail(place{root.Line, root.Column}, "the file is %s, want the blocks server:, router:, roles:, profiles: …; %s", kindOf(root), writeOne)
		return nil
	}
	return r.flatten(root)
}

// reportBroken reports what the YAML library complains about.
func (r *reader) reportBroken(data []byte, err error) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	n := reportedLine(err, len(lines))
	if len(data) <= 128<<10 { // above that the search would take seconds
		n = brokenLine(data, lines)
	}
	line := lines[n-1]
	indent := len(line) - len(bytes.TrimLeft(line, " \t-"))
	if tab := bytes.IndexByte(line[:indent], '\t'); tab >= 0 {
		r.fail(place{n, tab + 1}, "broken YAML: a tab indents this line; YAML wants spaces")
		return
	}
	r.fail(place{n, 1 + len(line) - len(bytes.TrimLeft(line, " "))}, "broken YAML: %s", complaint(err))
}

// brokenLine is the first line after the longest beginning of the file that is YAML by itself. The library names the
// line on which the surrounding construct began, which may be a hundred lines above. A beginning that ends within
// something that spans lines, such as a list in brackets, is no YAML either, so a few more lines are tried each time.
func brokenLine(data []byte, lines [][]byte) int {
	const span = 30 // lines that one value may take
	ends := make([]int, len(lines)+1)
	for i, line := range lines {
		ends[i+1] = ends[i] + len(line)
	}
	good, bad := 0, len(lines)
	for bad-good > 1 {
		mid := (good + bad) / 2
		n := mid
		for n < min(mid+span, bad) && !isYAML(data[:ends[n]]) {
			n++
		}
		if n < min(mid+span, bad) {
			good = n
		} else {
			bad = mid
		}
	}
	return good + 1
}

func isYAML(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

var lineOfError = regexp.MustCompile(`line (\d+): `)

// reportedLine is the line the library names, brought inside the file.
func reportedLine(err error, lines int) int {
	line := 1
	if m := lineOfError.FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscan(m[1], &line) // on overflow the file's first line has to do
	}
	return min(max(line, 1), lines)
}

// complaint words the library's error without the parts of the file it quotes: they may be a secret that was written
// without quotes and began with * or !.
func complaint(err error) string {
	text := lineOfError.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
	switch {
	case strings.HasPrefix(text, "unknown anchor"):
		return "a value that begins with * names an anchor that does not exist; put it in quotes if it is text"
	case strings.Contains(text, "control characters"):
		return "the line holds a control character"
	}
	return text
}

// firstInvalid is the place of the first byte that is not UTF-8.
func firstInvalid(data []byte) place {
	at := place{1, 1}
	for len(data) > 0 {
		c, size := utf8.DecodeRune(data)
		switch {
		case c == utf8.RuneError && size == 1:
			return at
		case c == '\n':
			at = place{at.line + 1, 1}
		default:
			at.column++
		}
		data = data[size:]
	}
	return at
}
