package runtime

import (
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// hermesLongOutput is the length above which an output that the deltas have told whole is left out of the terminal row:
// there the journal would cut it.
const hermesLongOutput = 64 << 10

// end makes the rows of a run's end, from the event or the status record that tells of it, which is of that family.
func (t *hermesTale) end(raw runs.Raw) []runs.Payload {
	object := raw.Object
	switch {
	case raw.Family == runs.TypeError && t.stopped():
		// Some builds call a run that was stopped failed. It did what it was told to.
		return []runs.Payload{runs.Raw{Family: runs.TypeCancelled, Object: with(object, "message", "The run was stopped.")}}
	case raw.Family == runs.TypeError:
		return []runs.Payload{runs.Raw{Family: runs.TypeError, Object: hermesFailure(object)}}
	case raw.Family == runs.TypeCancelled:
		return []runs.Payload{raw}
	}
	output := gjson.GetBytes(object, "output").Str
	rows := t.recover(output)
	if usage := gjson.GetBytes(object, "usage"); usage.IsObject() {
		rows = append(rows, runs.Raw{Family: runs.TypeUsageFinal, Object: json.RawMessage(`{"usage":` + usage.Raw + `}`)})
	}
	if len(output) > hermesLongOutput && t.text.is(output) {
		object = with(object, "output", "")
	}
	return append(rows, runs.Raw{Family: runs.TypeDone, Object: object})
}

// hermesFailure is a failed run's error. What type of error it is decides how the run has ended, and is the hub's to say: a
// failed run is neither cancelled nor crashed.
func hermesFailure(object []byte) []byte {
	message := gjson.GetBytes(object, "error")
	text := cmp.Or(message.Get("message").Str, message.Str, "The runtime says that the run failed.")
	object = with(with(object, "message", text), "terminal", true)
	if gjson.GetBytes(object, "type").Exists() {
		object = with(object, "runtime_type", gjson.GetBytes(object, "type").Value())
	}
	object = with(object, "type", "error")
	return with(object, "code", cmp.Or(gjson.GetBytes(object, "code").Str, message.Get("code").Str, "runtime_run_failed"))
}

// hermesInterrupted is the end of a run whose Hermes was stopped while it ran.
func hermesInterrupted(object []byte) runs.Payload {
	object = with(with(object, "type", "interrupted"), "code", "runtime_interrupted")
	object = with(with(object, "message", "The runtime was stopped before the run ended."), "terminal", true)
	return runs.Raw{Family: runs.TypeError, Object: object}
}

// recover makes the rows of what an output says and the deltas have not, if events may have been missed. Else they may
// differ, and that is the runtime's affair.
func (t *hermesTale) recover(output string) (rows []runs.Payload) {
	if !t.missed {
		return nil
	}
	for _, piece := range pieces(t.text.rest(output), hermesLongOutput) {
		t.text.add(piece)
		rows = append(rows, runs.Raw{Family: runs.TypeTokenDelta, Object: with([]byte(`{"recovered":true}`), "delta", piece)})
	}
	return rows
}

// recovered makes the rows of a run's end that only its status record tells of. They are marked, for no event told of them.
func (t *hermesTale) recovered(r hermesRecord) []runs.Payload {
	t.missed = true
	object := with(r.object, "recovered", true)
	switch r.status {
	case "interrupted":
		return []runs.Payload{hermesInterrupted(object)}
	case "failed":
		return t.end(runs.Raw{Family: runs.TypeError, Object: object})
	case "cancelled", "canceled":
		return t.end(runs.Raw{Family: runs.TypeCancelled, Object: object})
	default:
		return t.end(runs.Raw{Family: runs.TypeDone, Object: object})
	}
}
