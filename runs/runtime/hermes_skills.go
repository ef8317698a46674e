package runtime

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// hermesSkills are the paths of the controls that a server has.
type hermesSkills map[Verb]string

// hermesBasics are the skills of a server that tells nothing of itself.
var hermesBasics = hermesSkills{Cancel: "/v1/runs/{run_id}/stop", Approval: "/v1/runs/{run_id}/approval"}

// hermesControls is how a server says that it has a control: by a feature's flag or by naming the endpoint, whose path is
// then that one. Of two rows for a verb the first that fits is taken. The names of clarify, continue and goal are those of
// builds that have them; no release does.
var hermesControls = []struct {
	verb      Verb
	features  []string
	endpoints []string
	path      string
}{
	{Cancel, []string{"run_stop"}, []string{"run_stop"}, "/v1/runs/{run_id}/stop"},
	{Approval, []string{"run_approval_response"}, []string{"run_approval"}, "/v1/runs/{run_id}/approval"},
	{Clarify, []string{"run_clarify", "run_clarify_response"}, []string{"run_clarify"}, "/v1/runs/{run_id}/clarify"},
	{Clarify, []string{"clarify", "clarify_response", "session_clarify"}, []string{"session_clarify"}, "/api/sessions/{session_id}/clarify"},
	{Continue, []string{"run_messages", "run_continue"}, []string{"run_messages"}, "/v1/runs/{run_id}/messages"},
	{Steer, []string{"run_steer"}, []string{"run_steer"}, "/v1/runs/{run_id}/steer"},
	{Goal, []string{"run_goal"}, []string{"run_goal"}, "/v1/runs/{run_id}/goal"},
	{Goal, []string{"session_goal"}, []string{"session_goal"}, "/api/sessions/{session_id}/goal"},
}

// readHermesSkills reads the answer of GET /v1/capabilities. A flag that is false beats an endpoint that is named.
func readHermesSkills(body []byte) hermesSkills {
	features, endpoints := gjson.GetBytes(body, "features"), gjson.GetBytes(body, "endpoints")
	skills := hermesSkills{}
	for _, c := range hermesControls {
		if skills[c.verb] != "" {
			continue
		}
		path, flagged, denied := "", false, false
		for _, name := range c.features {
			f := features.Get(name)
			flagged, denied = flagged || f.Bool(), denied || f.Exists() && !f.Bool()
		}
		for _, name := range c.endpoints {
			e := endpoints.Get(name)
			if p := e.Get("path").Str; strings.EqualFold(e.Get("method").Str, http.MethodPost) && strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "//") {
				path = p
			}
		}
		switch {
		case denied && !flagged:
		case path != "":
			skills[c.verb] = path
		case flagged:
			skills[c.verb] = c.path
		}
	}
	return skills
}

// verbs are the controls, in the order of the table.
func (s hermesSkills) verbs() (vs []Verb) {
	for _, c := range hermesControls {
		if s[c.verb] != "" && !slices.Contains(vs, c.verb) {
			vs = append(vs, c.verb)
		}
	}
	return vs
}

// path is where a control of a run is sent, "" when there is none.
func (s hermesSkills) path(v Verb, runID, sessionID string) string {
	return strings.NewReplacer("{run_id}", url.PathEscape(runID), "{session_id}", url.PathEscape(sessionID)).Replace(s[v])
}
