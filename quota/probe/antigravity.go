package probe

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"hermes-hub/quota"
)

// Cloud Code's two servers. The summary of pools is on the daily one (CLIProxyAPI, oh-my-pi; cloudcode-pa answers it
// for some accounts alone).
const (
	cloudCode      = "https://cloudcode-pa.googleapis.com"
	cloudCodeDaily = "https://daily-cloudcode-pa.googleapis.com"
)

// antigravitySteps find the account's project where nobody knows it, then its four pools and, where those are not all
// there, the capacity of its models. Onboarding an account, which would give it a project, is its owner's to do.
var antigravitySteps = []step{
	{name: "project", method: http.MethodPost, base: cloudCode, path: "/v1internal:loadCodeAssist", body: askProject, when: lacksProject, read: readProject, plan: "paidTier.id currentTier.id"},
	{name: "summary", method: http.MethodPost, base: cloudCodeDaily, path: "/v1internal:retrieveUserQuotaSummary", body: askOfProject, weight: decides, read: readUsage},
	{name: "models", method: http.MethodPost, base: cloudCodeDaily, path: "/v1internal:fetchAvailableModels", body: askOfProject, when: lacksPools, weight: decides, read: readPools},
}

// antigravityPools are the buckets that a summary must have to be whole.
var antigravityPools = []string{"antigravity.claude.5h", "antigravity.gemini.5h", "antigravity.claude.7d", "antigravity.gemini.7d"}

func lacksProject(l *look) bool { return l.project == "" }

// lacksPools also lists the models when that is due.
func lacksPools(l *look) bool { return l.discover || !wholeSummary(l.readings) }

func wholeSummary(readings []quota.Reading) bool {
	return !slices.ContainsFunc(antigravityPools, func(id string) bool {
		return !slices.ContainsFunc(readings, func(r quota.Reading) bool {
			return slices.ContainsFunc(r.Buckets, func(b quota.Bucket) bool { return b.ID == id })
		})
	})
}

// askProject names no program: loadCodeAssist takes that.
func askProject(*look) any {
	return map[string]any{"metadata": map[string]string{
		"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "PLUGIN_UNSPECIFIED",
	}}
}

// askOfProject leaves the project out where there is none: accounts of persons have answers without.
func askOfProject(l *look) any {
	if l.project == "" {
		return struct{}{}
	}
	return map[string]string{"project": l.project}
}

// readProject reads loadCodeAssist: cloudaicompanionProject is a name, or an object with one.
func readProject(l *look, r reply) string {
	v := gjson.ParseBytes(r.body)
	project := v.Get("cloudaicompanionProject")
	if project.IsObject() {
		project = project.Get("id")
	}
	l.project = short(project.Str)
	if !v.IsObject() {
		return notUnderstood
	}
	return ""
}

// readPools reads fetchAvailableModels: the models, and the least of each family where the summary is not whole.
func readPools(l *look, r reply) string {
	models := map[string]poolModel{}
	gjson.GetBytes(r.body, "models").ForEach(func(id, m gjson.Result) bool {
		if info := m.Get("quotaInfo"); info.IsObject() && !internalModel(id.Str) {
			models[id.Str] = poolModel{json.RawMessage(info.Raw)}
		}
		return true
	})
	l.models = modelIDs(r.body, internalModel)
	if wholeSummary(l.readings) {
		return ""
	}
	// Only what is read of it: an answer with everything else may be longer than what Read looks at.
	body, err := json.Marshal(map[string]any{"models": models})
	if err != nil {
		return notUnderstood
	}
	r.body = body
	reading := r.reading()
	reading.Buckets = slices.DeleteFunc(reading.Buckets, func(b quota.Bucket) bool { return !strings.HasSuffix(b.ID, ".model_pool") })
	if len(reading.Buckets) == 0 {
		return noValues
	}
	l.readings, l.at = []quota.Reading{reading}, r.at
	return ""
}

type poolModel struct {
	QuotaInfo json.RawMessage `json:"quotaInfo"`
}

// internalModel reports whether a model is the editor's own: "tab_flash_lite_preview", "chat_20706".
func internalModel(id string) bool {
	return strings.HasPrefix(id, "tab_") || strings.HasPrefix(id, "chat_")
}
