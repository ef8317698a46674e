package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// bodyIn is how long a client may take for its body.
const bodyIn = time.Minute

// readBody reads a request's body whole.
func (a *API) readBody(q *call) ([]byte, error) {
	if e := strings.ToLower(q.r.Header.Get("Content-Encoding")); e != "" && e != "identity" {
		return nil, &fault{code: codeEncoding, message: fmt.Sprintf("Content-Encoding %.20q is not supported: send the body as it is", e)}
	}
	large := &fault{code: codeBodyTooLarge, message: fmt.Sprintf("the body is larger than %d bytes", a.o.MaxBody)}
	if q.r.ContentLength > a.o.MaxBody {
		return nil, large
	}
	conn := http.NewResponseController(q.w)
	_ = conn.SetReadDeadline(a.now().Add(bodyIn)) // a recorder has none
	body, err := io.ReadAll(io.LimitReader(q.r.Body, a.o.MaxBody+1))
	_ = conn.SetReadDeadline(time.Time{})
	var late interface{ Timeout() bool }
	switch {
	case int64(len(body)) > a.o.MaxBody:
		return nil, large
	case errors.As(err, &late) && late.Timeout():
		return nil, &fault{code: codeBodyStalled, message: fmt.Sprintf("the body did not arrive within %s", bodyIn)}
	case err != nil:
		return nil, &fault{code: codeInvalidRequest, message: "the body did not arrive whole"}
	}
	return body, nil
}

// readObject reads a request's body as a JSON object.
func (a *API) readObject(q *call) (*object, error) {
	body, err := a.readBody(q)
	if err != nil {
		return nil, err
	}
	return parseObject(body)
}

// object is a JSON object whose members are read one by one. The first one that is wrong is kept in err.
type object struct {
	raw     []byte
	members map[string]gjson.Result
	twice   map[string]bool
	err     error
}

// parseObject reads a body. Bytes that are no UTF-8 become U+FFFD.
func parseObject(body []byte) (*object, error) {
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
		return nil, &fault{code: codeInvalidRequest, message: "the body is no JSON: " + err.Error()}
	}
	v := gjson.ParseBytes(body)
	if !v.IsObject() {
		return nil, &fault{code: codeInvalidRequest, message: "the body must be a JSON object"}
	}
	return members(v), nil
}

// members are those of a valid JSON object.
func members(v gjson.Result) *object {
	o := &object{raw: []byte(v.Raw), members: map[string]gjson.Result{}, twice: map[string]bool{}}
	v.ForEach(func(name, value gjson.Result) bool {
		if _, known := o.members[name.Str]; known {
			o.twice[name.Str] = true
		}
		o.members[name.Str] = value
		return true
	})
	return o
}

// wrong keeps the first thing that is wrong.
func (o *object) wrong(param, format string, args ...any) {
	if o.err == nil {
		o.err = &fault{code: codeInvalidRequest, message: fmt.Sprintf(format, args...), param: param}
	}
}

// get is a member, if it is there and not null. One that is there twice is wrong: two readers could take two of them.
func (o *object) get(name string) (gjson.Result, bool) {
	if o.twice[name] {
		o.wrong(name, "%s is there twice: send it once", name)
	}
	v := o.members[name]
	return v, v.Exists() && v.Type != gjson.Null
}

// is reports whether a member is there and of one of the kinds, null aside.
func (o *object) is(name string, kinds ...string) (gjson.Result, bool) {
	v, ok := o.get(name)
	if ok && !slices.Contains(kinds, kind(v)) {
		o.wrong(name, "%s must be %s, not %s", name, strings.Join(kinds, " or "), kind(v))
		return v, false
	}
	return v, ok
}

// kind is what a JSON value is called in a message.
func kind(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "an array"
	case v.IsBool():
		return "a boolean"
	case v.Type == gjson.Number:
		return "a number"
	case v.Type == gjson.Null:
		return "null"
	default:
		return "a string"
	}
}

const (
	aString = "a string"
	anArray = "an array"
	anObj   = "an object"
	aBool   = "a boolean"
)

// text is a string member, "" when it is not there.
func (o *object) text(name string) string {
	v, _ := o.is(name, aString)
	return v.Str
}

// name is a string member that names something: at most longest bytes, and none that cannot be printed.
func (o *object) name(member string, longest int) string {
	text := o.text(member)
	if !printable(text, longest) {
		o.wrong(member, "%s must have at most %d bytes that can be printed", member, longest)
	}
	return text
}

// texts is a member that is an array of strings.
func (o *object) texts(name string) (list []string) {
	v, _ := o.is(name, anArray)
	for i, item := range v.Array() {
		if item.Type != gjson.String {
			o.wrong(name, "%s[%d] must be a string, not %s", name, i, kind(item))
		}
		list = append(list, item.Str)
	}
	return list
}

// json is a member of one of the kinds as it came, nil when it is not there.
func (o *object) json(name string, kinds ...string) json.RawMessage {
	v, ok := o.is(name, kinds...)
	if !ok {
		return nil
	}
	return json.RawMessage(v.Raw)
}

func printable(text string, longest int) bool {
	return len(text) <= longest && !strings.ContainsFunc(text, unicode.IsControl)
}
