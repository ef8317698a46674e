package credential

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tidwall/gjson"

	"hermes-hub/router"
)

// largestFile is what is read of a file of tokens. Theirs have 2 to 10 KB; Claude Code keeps tokens of MCP servers with them.
const largestFile = 256 << 10

// reading is one look at a file.
type reading struct {
	content []byte // secret
	mode    fs.FileMode
	format  *format // nil = the file is a key and nothing else
	tokens  tokens
}

// readFile looks at the file. keys says that a file that is no JSON may be a key.
func readFile(path, provider string, keys bool) (*reading, *Problem) {
	content, mode, err := contentOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Problem{
			State: NotConfigured, Reason: ReasonFileMissing,
			Detail: path + " is not there", Mend: "sign in with the program that keeps it, or correct oauth_file",
		}
	case errors.Is(err, errTooLarge):
		return nil, misshapen(path, err.Error())
	case err != nil:
		return nil, &Problem{
			State: NotConfigured, Reason: ReasonFileUnread,
			Detail: fmt.Sprintf("cannot read %s: %v", path, cause(err)), Mend: "let the hub's user read it",
		}
	}
	r, p := parseFile(path, content, provider, keys)
	if p == nil {
		r.mode = mode
	}
	return r, p
}

var errTooLarge = fmt.Errorf("is larger than %d KB", largestFile>>10)

func contentOf(path string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() { // reading a pipe would wait for its writer
		return nil, 0, errors.New("it is no regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	content, err := io.ReadAll(io.LimitReader(file, largestFile+1))
	if err != nil {
		return nil, 0, err
	}
	if len(content) > largestFile {
		return nil, 0, errTooLarge
	}
	return content, info.Mode(), nil
}

// cause is the bare reason of a file error: the path stands in the message already.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// parseFile understands a file's content. Its problems name the path and never anything of the content.
func parseFile(path string, content []byte, provider string, keys bool) (*reading, *Problem) {
	if !gjson.ValidBytes(content) {
		if key := keyIn(content); keys && !key.Empty() {
			return &reading{content: content, tokens: tokens{access: key, kind: kindOf(key)}.withClaims()}, nil
		}
		return nil, misshapen(path, "is no JSON, or was cut short")
	}
	doc := gjson.ParseBytes(content)
	if !doc.IsObject() {
		return nil, misshapen(path, "is no JSON object")
	}
	f, foreign := formatOf(doc, provider)
	if foreign {
		return nil, &Problem{
			State: NotConfigured, Reason: ReasonForeign,
			Detail: fmt.Sprintf("%s is %s, and the account's provider is %s", path, f.name, provider),
			Mend:   "correct oauth_file or provider",
		}
	}
	t := f.read(doc, provider)
	if t.access.Empty() && t.refresh.Empty() {
		return nil, &Problem{
			State: NotConfigured, Reason: ReasonFileShape,
			Detail: path + " holds neither an access token nor a refresh token", Mend: f.mend,
		}
	}
	return &reading{content: content, format: f, tokens: t}, nil
}

func misshapen(path, how string) *Problem {
	return &Problem{
		State: NotConfigured, Reason: ReasonFileShape,
		Detail: path + " " + how, Mend: "sign in again with the program that keeps it",
	}
}

// keyIn is the one printable word that a file holds, empty when it holds something else.
func keyIn(content []byte) router.Secret {
	words := bytes.Fields(content)
	if len(words) != 1 || len(words[0]) > longestToken || bytes.ContainsAny(words[0], "<>{}[]\"") {
		return router.Secret{}
	}
	for _, c := range words[0] {
		if c < '!' || c > '~' {
			return router.Secret{}
		}
	}
	return router.NewSecret(string(words[0]))
}
