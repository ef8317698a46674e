package simulator

import (
	"fmt"
	"maps"
	"net/http"
	"time"
)

// cloudCode is Google's Cloud Code, which Antigravity and Gemini CLI speak: Gemini in an envelope that names model and
// project, and answers in an envelope (google-gemini/gemini-cli, packages/core/src/code_assist).
var cloudCode = func() dialect {
	d := gemini
	d.protocol = CloudCode
	d.key = func(in inbound) string { return bearer(in.header) }
	d.parse = parseCloudCode
	d.whole = cloudWhole
	d.events = cloudEvents
	d.noop = func(req Request, st stamp) event {
		return event{kind: eventOther, wire: googleFrame(cloudWrap(geminiOpen(req, st).with([]geminiSaidPart{{Text: new(string)}}, ""), st))}
	}
	d.recorded = maps.Clone(geminiRecorded)
	maps.Copy(d.recorded, cloudRecorded)
	d.spent = cloudSpent
	d.badKey = func(string) *problem {
		p := cloudRecorded[Unauthorized]
		p.excused = true
		return &p
	}
	d.noModel = func(string) *problem {
		return &problem{excused: true, status: http.StatusNotFound, message: "Requested entity was not found."}
	}
	return d
}()

const cloudDomain = "cloudcode-pa.googleapis.com"

// cloudRecorded are refusals as Cloud Code was recorded to send them (decolua/9router 789, CLIProxyAPI 3655, gemini-cli 25607).
var cloudRecorded = map[StepName]problem{
	ContextTooLong:        {status: 400, message: "The input token count exceeds the maximum number of tokens allowed 1048576."},
	Unauthorized:          {status: 401, message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.", details: []map[string]any{errorInfo("ACCESS_TOKEN_EXPIRED", "googleapis.com", nil)}},
	PaymentRequired:       {status: 429, message: "Insufficient credits.", details: []map[string]any{errorInfo("INSUFFICIENT_G1_CREDITS_BALANCE", cloudDomain, map[string]string{"model": "{model}"})}},
	Forbidden:             {status: 403, message: "You are currently configured to use a Google Cloud Project but lack a Gemini Code Assist license. (#3501)", details: []map[string]any{errorInfo("SUBSCRIPTION_REQUIRED", "cloudaicompanion.googleapis.com", nil)}},
	NotFound:              {status: 404, message: "Requested entity was not found."},
	RequestOverTokenLimit: {status: 429, message: "Resource has been exhausted (e.g. check quota)."},
	InsufficientQuota:     {status: 429, message: "Insufficient credits.", details: []map[string]any{errorInfo("INSUFFICIENT_G1_CREDITS_BALANCE", cloudDomain, map[string]string{"model": "{model}"})}},
	ServerErrorAs429:      {status: 429, message: "No capacity available for model {model} on the server", details: []map[string]any{errorInfo("MODEL_CAPACITY_EXHAUSTED", cloudDomain, map[string]string{"model": "{model}"})}},
	Overloaded:            {status: 503, message: "No capacity available for model {model} on the server", details: []map[string]any{errorInfo("MODEL_CAPACITY_EXHAUSTED", cloudDomain, map[string]string{"model": "{model}"})}},
}

// parseCloudCode reads the envelope and what is in it.
func parseCloudCode(in inbound) (Request, *problem) {
	tree, ok := readTree(in.body)
	if !ok {
		return Request{}, violations([]*problem{{message: "Invalid JSON payload received. Unexpected end of string."}})
	}
	body := node{value: tree, found: true, style: &googlePlaces}
	model := body.member("model").text()
	counting := in.route.op == opCount
	if counting {
		model = body.member("request").member("model").text()
	}
	g := newGeminiReview(in, model)
	g.cloud = true
	g.shaped(body, cloudBody)
	if g.body = body.member("request"); !g.body.found {
		g.refuse(invalidGoogle("Request contains an invalid argument."))
	}
	if len(g.wrong) > 0 {
		return Request{}, violations(g.wrong)
	}
	project := body.member("project").text()
	g.req.Project = project
	if wrong := reviewProject(in.account, project); wrong != nil && !counting {
		return Request{}, wrong
	}
	return g.read()
}

// reviewProject reviews whose project a call is for.
func reviewProject(a *account, project string) *problem {
	switch {
	case project == "":
		return invalidGoogle("Invalid project resource name projects/")
	case a.Project != "" && a.Project != project:
		return &problem{
			status: http.StatusForbidden, message: fmt.Sprintf("Permission denied on resource project %s.", project),
			details: []map[string]any{errorInfo("CONSUMER_INVALID", "googleapis.com", map[string]string{"consumer": "projects/" + project, "service": cloudDomain})},
		}
	}
	return nil
}

func cloudWrap(reply geminiReply, st stamp) []byte {
	return encode(struct {
		Response geminiReply `json:"response"`
		Trace    string      `json:"traceId"`
	}{reply, fmt.Sprintf("simulated%06d", st.serial)})
}

func cloudWhole(req Request, ans Answer, st stamp) []byte {
	text := cloudWrap(geminiReplyOf(req, ans, st), st)
	if req.listed {
		return fmt.Appendf(nil, "[%s]", text)
	}
	return text
}

func cloudEvents(req Request, ans Answer, st stamp) []event {
	replies, kinds := geminiStream(req, ans, st)
	events := make([]event, len(replies))
	for i, reply := range replies {
		events[i] = event{kind: kinds[i], wire: googleFrame(cloudWrap(reply, st))}
	}
	return events
}

// cloudSpent is the answer when the quota is spent: a rate's for a short window, the plan's for a long one.
func cloudSpent(q Quota, w window, to told) *problem {
	wait := untilEnd(w, to.now)
	switch {
	case q.Style == QuotaBilling:
		p := cloudRecorded[InsufficientQuota].forModel(to.model)
		return &p
	case w.end.IsZero():
		return exhaustedGoogle("Resource has been exhausted (e.g. check quota).")
	}
	p := exhaustedGoogle(fmt.Sprintf("You have exhausted your capacity on this model. Your quota will reset after %s.", wait.Truncate(time.Second)))
	retry := googleDetail("RetryInfo", map[string]any{"retryDelay": fmt.Sprintf("%vs", wait.Seconds())})
	metadata := map[string]string{"model": to.model}
	switch {
	case q.Style == QuotaProse || q.Style == QuotaSubscriptionBody:
	case q.Style == QuotaRate && q.Window < time.Hour:
		p.details = []map[string]any{errorInfo("RATE_LIMIT_EXCEEDED", cloudDomain, metadata), retry}
	default:
		metadata["quotaResetDelay"], metadata["quotaResetTimeStamp"] = wait.String(), ceil(w.end).UTC().Format(time.RFC3339)
		p.details = []map[string]any{errorInfo("QUOTA_EXHAUSTED", cloudDomain, metadata), retry}
	}
	return p
}
