package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

const agentRuntime = "runs: {runtimes: {agent: {kind: hermes, base_url: AGENT, api_key: first-key}}}"

// onAgent is what comes of a run on the runtime of that name.
func onAgent(s *scene) string {
	return fmt.Sprint(s.post("/v1/runs", `{"input":"Hello","model":"sim-1","runtime":"agent"}`).status)
}

func runProofs() map[string]proof {
	return map[string]proof{
		"runs.default_runtime": {
			from: edits{"#top", agentRuntime}, to: edits{"runs: {", "runs: {default_runtime: agent, "}, want: [2]string{"202", "429"},
			see: func(s *scene) string {
				return fmt.Sprint(s.post("/v1/runs", `{"input":"Hello","model":"sim-1"}`).status)
			},
		},
		"runs.runtimes.*.kind": {
			to: edits{"#top", agentRuntime}, want: [2]string{"400", "429"}, see: onAgent,
		},
		"runs.runtimes.*.base_url": {
			from: edits{"#top", agentRuntime}, to: edits{"base_url: AGENT", "base_url: http://FREE1"}, want: [2]string{"429", "503"}, see: onAgent,
		},
		"runs.runtimes.*.api_key": {
			from: edits{"#top", agentRuntime}, to: edits{"first-key", "second-key"}, want: [2]string{"Bearer first-key", "Bearer second-key"},
			see: func(s *scene) string {
				onAgent(s)
				select {
				case key := <-s.more.keys:
					return key
				case <-s.t.Context().Done():
					return "nobody came"
				}
			},
		},
	}
}

// run is the run of the request, once it has ended.
func (s *scene) run(body string) gjson.Result {
	s.t.Helper()
	id := gjson.Get(s.post("/v1/runs", body).body, "run_id").Str
	s.send(http.MethodGet, s.proxy+"/v1/runs/"+id+"/events", "", "Accept", "text/event-stream") // until its end
	return gjson.Parse(s.send(http.MethodGet, s.proxy+"/v1/runs/"+id, "").body)
}

func journalProofs() map[string]proof {
	longInput := fmt.Sprintf(`{"input":%q,"model":"sim-1"}`, strings.Repeat("All work and no play. ", 400))
	return map[string]proof{
		"server.redis_url": {
			to: edits{"#server", "redis_url: redis://REDIS"}, restart: true, want: [2]string{"nothing in Redis", "a run in Redis"},
			see: func(s *scene) string {
				id := s.run(`{"input":"Hello","model":"sim-1"}`).Get("run_id").Str
				if strings.Contains(strings.Join(s.more.redis.Keys(), " "), id) {
					return "a run in Redis"
				}
				return "nothing in Redis"
			},
		},
		"journal.content": {
			to: edits{"#top", "journal: {content: metadata}"}, restart: true, want: [2]string{"completed true", "completed false"},
			see: func(s *scene) string {
				run := s.run(`{"input":"Hello","model":"sim-1"}`)
				return fmt.Sprint(run.Get("status"), " ", run.Get("output").Str != "")
			},
		},
		"journal.max_event_bytes": {
			to: edits{"#top", "journal: {max_event_bytes: 1024}"}, restart: true, want: [2]string{"whole", "cut"},
			see: func(s *scene) string {
				id := s.run(longInput).Get("run_id").Str
				log := s.send(http.MethodGet, s.proxy+"/v1/runs/"+id+"/events", "", "Accept", "text/event-stream").body
				if strings.Contains(log, `"truncated":true`) {
					return "cut"
				}
				return "whole"
			},
		},
		"journal.record_calls": {
			to: edits{"#top", "journal: {record_calls: off}"}, want: [2]string{"true", "false"},
			see: func(s *scene) string { return fmt.Sprint(s.post(chatPath, chatBody).header.Get("X-Hub-Run-Id") != "") },
		},
		"journal.retention_hours": {
			to: edits{"#top", "journal: {retention_hours: 0.0001}"}, want: [2]string{"completed", "expired"},
			see: func(s *scene) string {
				id := s.run(`{"input":"Hello","model":"sim-1"}`).Get("run_id").Str
				status := ""
				for range 30 {
					if status = gjson.Get(s.send(http.MethodGet, s.proxy+"/v1/runs/"+id, "").body, "status").Str; status == "expired" {
						break
					}
					time.Sleep(100 * time.Millisecond) // another process's clock
				}
				return status
			},
		},
	}
}
