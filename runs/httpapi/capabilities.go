package httpapi

import "net/http"

// Capabilities are what the plane knows of itself.
type Capabilities struct {
	Model        string // the name under which the hub is asked when a client has no other; "" = "auto"
	AuthRequired bool   // a client key is needed
}

// endpoint is one of the endpoints that a client may look up.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// capabilities answers what a Hermes gateway answers, of what this hub can do.
func (a *API) capabilities(q *call) error {
	c := a.o.Capabilities()
	model := c.Model
	if model == "" {
		model = "auto"
	}
	return q.answer(http.StatusOK, map[string]any{
		"object":   "hermes.api_server.capabilities",
		"platform": "hermes-hub",
		"model":    model,
		"auth":     map[string]any{"type": "bearer", "required": c.AuthRequired},
		"features": map[string]any{
			"chat_completions": true, "chat_completions_streaming": true, "responses_api": true, "responses_streaming": true,
			"reasoning_streaming": true, "tool_progress_events": true,
			"run_submission": true, "run_status": true, "run_list": true, "run_events_sse": true, "run_events_replay": true, "run_events_long_poll": true,
			"run_append": true, "run_stop": true, "run_steer": true, "run_approval_response": true, "run_clarify_response": true, "run_continue": true,
			"approval_events": true, "approval_identity_v1": true, "session_events": true,
			"session_resources": false, "session_chat": false, "session_chat_streaming": false, "session_fork": false, "session_model_lock": false,
			"model_options": false, "skills_api": false, "jobs_admin": false, "memory_write_api": false, "admin_config_rw": false,
			"audio_api": false, "realtime_voice": false,
			"session_continuity_header": "X-Hermes-Session-Id", "session_key_header": "X-Hermes-Session-Key",
		},
		"run_idempotency": map[string]any{"supported": true, "durable": true, "header": "Idempotency-Key"},
		"endpoints": map[string]endpoint{
			"health": {"GET", "/healthz"}, "models": {"GET", "/v1/models"}, "capabilities": {"GET", "/v1/capabilities"},
			"chat_completions": {"POST", "/v1/chat/completions"}, "responses": {"POST", "/v1/responses"},
			"runs": {"POST", "/v1/runs"}, "run_list": {"GET", "/v1/runs"}, "run_status": {"GET", "/v1/runs/{run_id}"},
			"run_events": {"GET", "/v1/runs/{run_id}/events"}, "run_append": {"POST", "/v1/runs/{run_id}/events"},
			"run_stop": {"POST", "/v1/runs/{run_id}/stop"}, "run_approval": {"POST", "/v1/runs/{run_id}/approval"},
			"run_clarify": {"POST", "/v1/runs/{run_id}/clarify"}, "run_messages": {"POST", "/v1/runs/{run_id}/messages"},
			"run_steer": {"POST", "/v1/runs/{run_id}/steer"}, "run_goal": {"POST", "/v1/runs/{run_id}/goal"},
			"session_runs": {"GET", "/v1/sessions/{session_id}/runs"}, "session_events": {"GET", "/v1/sessions/{session_id}/events"},
			"session_goal": {"POST", "/v1/sessions/{session_id}/goal"}, "session_delete": {"DELETE", "/v1/sessions/{session_id}"},
		},
	})
}
