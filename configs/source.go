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
		r.fail(brokenAt(data, err), "%s", syntaxMessage(data, err))
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

// brokenAt is where the YAML breaks: the first line after the longest beginning of the file that is YAML by itself. The
// library names the line on which the surrounding construct began, which may be a hundred lines above.
func brokenAt(data []byte, err error) place {
	const affordable = 2000 // lines; each costs a parse up to the break
	lines := bytes.SplitAfter(data, []byte("\n"))
	at := reportedLine(err, len(lines))
	if len(lines) <= affordable {
		end := len(data)
		for n := len(lines) - 1; n >= 0; n-- {
			end -= len(lines[n])
			if isYAML(data[:end]) {
				at = n + 1
				break
			}
		}
	}
	line := lines[at-1]
	if tab := bytes.IndexByte(line, '\t'); tab >= 0 && len(bytes.TrimLeft(line[:tab], " -")) == 0 {
		return place{at, tab + 1}
	}
	return place{at, 1 + len(line) - len(bytes.TrimLeft(line, " "))}
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

// syntaxMessage words the library's complaint without the parts of the file it quotes: they may be a secret that was
// written without quotes and began with * or !.
func syntaxMessage(data []byte, err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = lineOfError.ReplaceAllString(text, "")
	at := brokenAt(data, err)
	line := bytes.SplitAfter(data, []byte("\n"))[at.line-1]
	switch {
	case at.column <= len(line) && line[at.column-1] == '\t':
		return "broken YAML: a tab indents this line; YAML wants spaces"
	case strings.HasPrefix(text, "unknown anchor"):
		return "broken YAML: a value that begins with * names an anchor that does not exist; put it in quotes if it is text"
	case strings.Contains(text, "control characters"):
		return "broken YAML: the line holds a control character"
	}
	return "broken YAML: " + text
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
