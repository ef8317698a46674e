package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// Control carries out one wish.
func (x *hermesRun) Control(ctx context.Context, c Control) error {
	path := x.h.known().path(c.Verb, x.id, x.sessionID)
	if path == "" {
		return ErrUnsupported
	}
	switch c.Verb {
	case Cancel:
		return x.stop(ctx, path)
	case Approval:
		return x.approve(ctx, path, c)
	case Clarify:
		return x.clarify(ctx, path, c)
	case Steer:
		return x.ask(ctx, path, map[string]any{"input": c.Text})
	case Continue:
		return x.ask(ctx, path, map[string]any{"message": c.Text, "mode": cmp.Or(c.Mode, "queue")})
	case Goal:
		return x.ask(ctx, path, map[string]any{"action": c.Mode, "text": c.Text})
	default:
		return ErrUnsupported
	}
}

// ask sends a wish, which is taken or refused.
func (x *hermesRun) ask(ctx context.Context, path string, wish map[string]any) error {
	a, err := x.post(ctx, path, wish)
	if err != nil {
		return err
	}
	return x.refused(a)
}

func (x *hermesRun) post(ctx context.Context, path string, body map[string]any) (hermesAnswer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return hermesAnswer{}, err
	}
	a, err := x.h.wire.call(ctx, hermesCallIn, http.MethodPost, path, text, nil)
	if err != nil {
		return hermesAnswer{}, hermesUnreachable(ctx, err)
	}
	return a, nil
}

// refused is the error of an answer, nil when the wish was taken.
func (x *hermesRun) refused(a hermesAnswer) error {
	code, _ := errorSaid(a.body)
	switch {
	case a.status >= 200 && a.status < 300:
		return nil
	case a.status == http.StatusNotFound && code == "":
		return ErrUnsupported // no such route: the server is another one than it was a minute ago
	case a.status == http.StatusNotFound, a.status == http.StatusGone, a.status == http.StatusConflict && hermesOver[code]:
		x.nudge()
		return ErrNotActive
	default:
		return hermesRefusal(a, x.h.now())
	}
}

// hermesOver are the codes of refusals that say that there is nothing to control any more.
var hermesOver = map[string]bool{
	"run_not_active": true, "approval_not_active": true, "approval_not_pending": true, "clarify_not_active": true, "clarify_not_pending": true,
}

// stop asks for the end of the run. How a run that is over already has ended, Follow finds out; it may do so before the
// server's answer to the stop is read.
func (x *hermesRun) stop(ctx context.Context, path string) error {
	was := x.stopped.Swap(true)
	a, err := x.post(ctx, path, map[string]any{})
	if err == nil {
		x.nudge()
		err = x.refused(a)
	}
	if err == nil && (hermesRecord{status: gjson.GetBytes(a.body, "status").Str}).ended() {
		err = ErrNotActive
	}
	if err != nil {
		x.stopped.Store(was)
	}
	return err
}

// hermesChoices are the choices of an approval, by what clients call them.
var hermesChoices = map[string]string{
	"once": "once", "approve": "once", "approved": "once", "allow": "once",
	"session": "session", "always": "always", "deny": "deny",
}

// approve answers an approval. It is made sure that this and no other one is answered: a server that knows approvals by no
// id takes every answer for its oldest.
func (x *hermesRun) approve(ctx context.Context, path string, c Control) error {
	choice := hermesChoices[strings.ToLower(strings.TrimSpace(c.Text))]
	if choice == "" {
		return &Refused{Status: http.StatusBadRequest, Code: "invalid_approval_choice", Message: "The choice must be one of once, session, always, deny."}
	}
	claim, ok := x.approvals.claim(c.ID, choice)
	if !ok {
		return ErrNotActive
	}
	defer x.approvals.release(claim.id)
	body := map[string]any{"choice": choice}
	if claim.named {
		body["request_id"], body["approval_id"] = claim.id, claim.id
	} else if err := x.certain(ctx, claim, choice == "deny"); err != nil {
		return err
	}
	a, err := x.post(ctx, path, body)
	if err != nil {
		return err
	}
	if err := x.refused(a); err != nil {
		if errors.Is(err, ErrNotActive) {
			x.settles(func() bool { return x.approvals.settle(claim.id) }, runs.ApprovalResolved{ApprovalID: claim.id, Status: "not_pending"})
		}
		return err
	}
	x.settles(func() bool { return x.approvals.answered(claim.hermesQuestion) },
		runs.ApprovalResolved{ApprovalID: claim.id, Choice: choice, Status: "answered"})
	return nil
}

// certain reports whether an answer without an id goes to this approval: nil, or why it may not.
func (x *hermesRun) certain(ctx context.Context, c hermesClaim, deny bool) error {
	unclear := &Refused{
		Status: http.StatusConflict, Code: "approval_unclear",
		Message: "This runtime knows approvals by no id, and whether it waits for this one cannot be made sure. Deny it, or stop the run.",
	}
	switch {
	case !c.oldest:
		return &Refused{Status: http.StatusConflict, Code: "approval_order", Message: "This runtime takes answers for its oldest approval only. Answer that one first."}
	case deny:
		return nil
	case c.blind, !c.only && c.doubtful:
		return unclear
	case !c.missed:
		return nil
	}
	record, err := x.h.status(ctx, hermesCallIn, x.id)
	if err != nil {
		return err
	}
	// Its status changed when the run asked for the approval, and has not since: it is this one.
	same := record.status == "waiting_for_approval" && sameMoment(record.updatedAt(), c.at)
	if !same || !c.only {
		return unclear
	}
	return nil
}

// clarify answers a question.
func (x *hermesRun) clarify(ctx context.Context, path string, c Control) error {
	claim, ok := x.clarifies.claim(c.ID, c.Text)
	if !ok {
		return ErrNotActive
	}
	defer x.clarifies.release(claim.id)
	body := map[string]any{"response": c.Text}
	if claim.named {
		body["clarify_id"] = claim.id
	} else if !claim.only {
		return &Refused{Status: http.StatusConflict, Code: "clarify_ambiguous", Message: "This runtime knows questions by no id, and several wait for an answer."}
	}
	a, err := x.post(ctx, path, body)
	if err != nil {
		return err
	}
	if err := x.refused(a); err != nil {
		if errors.Is(err, ErrNotActive) {
			x.settles(func() bool { return x.clarifies.settle(claim.id) }, runs.ClarifyResolved{ClarifyID: claim.id, Status: "not_pending"})
		}
		return err
	}
	x.settles(func() bool { return x.clarifies.answered(claim.hermesQuestion) },
		runs.ClarifyResolved{ClarifyID: claim.id, Response: c.Text, Status: "answered"})
	return nil
}
