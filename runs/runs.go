// Package runs is the durable journal of runs: what an agent did, row by row, so that any observer can leave, come back and
// read on exactly where it was.
//
// A run is a log of events. Each row has a seq, from 1 without a gap, and an id `<run id>:<seq>` that is never given to
// other content. The first terminal row (done, cancelled, or an error that ends the run) wins; after it come at most a title
// and the final usage, then one closing row that seals the log.
//
//	Payload ─ Writer.Append ─ redact, bound ─▶ pending ─ Journal.Run, group commit ─▶ Store ─▶ bell ─▶ Subscription.Next
//
// The log is the truth and a bell is only a bell: whoever hears it reads the store from its own cursor, so nothing is seen
// before it is committed, lost between a replay and the live tail, or seen twice. What decides is pure: Decide (may this
// batch be stored, and under which numbers), Resume (where a cursor continues), Fold (what the rows say of the run),
// Frame (one row in the words of a client).
//
// Stores are small: five methods, whose contract stands at Store and is held by package storetest. The package knows no HTTP
// and starts no run.
package runs

import "regexp"

// Status is where a run stands, in the words of the run adapter contract.
type Status string

// The statuses of a run.
const (
	Queued           Status = "queued"
	Running          Status = "running"
	AwaitingApproval Status = "awaiting_approval"
	AwaitingClarify  Status = "awaiting_clarify"
	Paused           Status = "paused"
	Cancelling       Status = "cancelling"
	Canceled         Status = "cancelled"
	Failed           Status = "failed"
	Completed        Status = "completed"
	Expired          Status = "expired" // only a tombstone is left
)

// live are the statuses that a row may announce: the others follow from a terminal row, or from age.
var live = map[Status]bool{Queued: true, Running: true, AwaitingApproval: true, AwaitingClarify: true, Paused: true, Cancelling: true}

// TerminalState is how a run ended, "" while it has not.
type TerminalState string

// The ways in which a run ends.
const (
	EndCompleted          TerminalState = "completed"
	EndInterruptedByUser  TerminalState = "interrupted-by-user"
	EndInterruptedByCrash TerminalState = "interrupted-by-crash"
	EndToolLimit          TerminalState = "tool_limit_reached"
	EndErrored            TerminalState = "errored"
)

// Status is the status of a run that ended so.
func (s TerminalState) Status() Status {
	switch s {
	case "":
		return Running
	case EndCompleted, EndToolLimit:
		return Completed
	case EndInterruptedByUser:
		return Canceled
	default:
		return Failed
	}
}

var idGrammar = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// ValidID reports whether the text can be the id of a run. Ids of other origin than NewID are kept, so long as a cursor can
// name them.
func ValidID(id string) bool { return idGrammar.MatchString(id) }
