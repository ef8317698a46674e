package simulator

import (
	"net/http"
	"strings"
	"time"
)

// dialect is one protocol as a provider speaks it: how a call is understood, and how answers and problems are written. The
// steps of a script know none of it. Adding a protocol is one file and one row of dialects.
type dialect struct {
	path    string                                        // the end of the path of a call for an answer
	key     func(http.Header) string                      // the credential of a call
	parse   func([]byte) (Request, *problem)              // understands a body, or says what is wrong with it
	whole   func(Request, Answer, stamp) []byte           // an answer in one piece
	events  func(Request, Answer, stamp) []event          // an answer as a stream
	noop    func(Request, stamp) event                    // an event that says nothing
	problem func(*problem) []byte                         // a refusal's body
	failure func(*problem) event                          // a refusal inside a stream
	models  func(models []string, since time.Time) []byte // the list of models
	model   func(model string, since time.Time) []byte    // one of them
}

// stamp is what tells one answer from another.
type stamp struct {
	serial  int // of the call
	created time.Time
}

// event is one event of a stream, as it stands on the wire.
type event struct {
	kind eventKind
	wire []byte
}

// eventKind says what an event is for, in no dialect.
type eventKind uint8

const (
	eventOpening eventKind = iota // says who speaks, and no more
	eventContent                  // text or reasoning
	eventTool                     // a piece of a tool call
	eventClosing                  // why the answer ends
	eventUsage                    // token counts
	eventDone                     // the protocol's last word
	eventOther
)

// substance reports whether the event carries a piece of the answer itself.
func (k eventKind) substance() bool { return k == eventContent || k == eventTool }

// dialects is the table of protocols. The first one refuses the calls that are for none of them.
var dialects = []*dialect{&openAI}

// operation is what a call asks for.
type operation uint8

const (
	opUnknown operation = iota
	opAnswer
	opModels
	opModel
)

// route is what a path asks for, and of whom.
type route struct {
	op      operation
	dialect *dialect
	prefix  string // the path before what the protocol appends; a segment of it may name an account
	model   string // of opModel
}

// routeOf reads a path.
func routeOf(path string) route {
	for _, d := range dialects {
		if prefix, ok := strings.CutSuffix(path, d.path); ok {
			return route{op: opAnswer, dialect: d, prefix: prefix}
		}
	}
	if prefix, model, ok := strings.Cut(path, "/models/"); ok {
		return route{op: opModel, dialect: dialects[0], prefix: prefix, model: model}
	}
	if prefix, ok := strings.CutSuffix(path, "/models"); ok {
		return route{op: opModels, dialect: dialects[0], prefix: prefix}
	}
	return route{dialect: dialects[0], prefix: path}
}

// method is the one method by which the operation may be asked for.
func (o operation) method() string {
	if o == opAnswer {
		return http.MethodPost
	}
	return http.MethodGet
}
