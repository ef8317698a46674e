package fakehermes

import "net/http"

// capabilities is GET /v1/capabilities.
func (s *Server) capabilities(w http.ResponseWriter, _ *http.Request) {
	if s.o.Silent {
		refuse(w, http.StatusNotFound, "", "Not found")
		return
	}
	features := map[string]any{
		"chat_completions": true, "chat_completions_streaming": true, "responses_api": true, "responses_streaming": true,
		"run_submission": true, "run_status": true, "run_events_sse": true, "run_stop": true, "run_approval_response": true,
		"tool_progress_events": true, "approval_events": true, "session_resources": true, "session_chat": true,
		"jobs_admin": false, "memory_write_api": false, "admin_config_rw": false, "audio_api": false, "realtime_voice": false,
		"session_continuity_header": "X-Hermes-Session-Id", "session_key_header": "X-Hermes-Session-Key",
	}
	endpoints := map[string]any{
		"health": get("/health"), "models": get("/v1/models"), "runs": post("/v1/runs"), "run_status": get("/v1/runs/{run_id}"),
		"run_events": get("/v1/runs/{run_id}/events"), "run_approval": post("/v1/runs/{run_id}/approval"), "run_stop": post("/v1/runs/{run_id}/stop"),
	}
	body := map[string]any{
		"object": "hermes.api_server.capabilities", "platform": "hermes-agent", "model": "hermes-agent",
		"auth": map[string]any{"type": "bearer", "required": s.o.Key != ""}, "features": features, "endpoints": endpoints,
	}
	if !s.o.Old {
		features["run_steer"] = true
		endpoints["run_steer"] = post("/v1/runs/{run_id}/steer")
		body["run_idempotency"] = map[string]any{"supported": true, "durable": s.o.Durable, "retention_seconds": 86400}
	}
	switch s.o.Clarify {
	case "run":
		endpoints["run_clarify"] = post("/v1/runs/{run_id}/clarify")
	case "session":
		features["session_clarify"] = true
	}
	if s.o.Chatty {
		features["run_messages"], features["session_goal"] = true, true
	}
	answer(w, http.StatusOK, body)
}

func get(path string) map[string]any { return map[string]any{"method": http.MethodGet, "path": path} }

func post(path string) map[string]any { return map[string]any{"method": http.MethodPost, "path": path} }
