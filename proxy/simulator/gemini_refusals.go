package simulator

import (
	"fmt"
	"net/http"
)

const (
	geminiDomain = "generativelanguage.googleapis.com"
	geminiQuota  = "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)

// geminiWording is how the Gemini API refuses. A bad key is a bad request there.
var geminiWording = wording{
	badKey: func(key string) *problem {
		if key == "" {
			return &problem{excused: true, status: http.StatusForbidden, message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."}
		}
		p := geminiRecorded[Unauthorized]
		p.excused = true
		return &p
	},
	expired: func() *problem {
		p := cloudRecorded[Unauthorized]
		p.excused = true
		return &p
	},
	noPath: func(string, string) *problem {
		return &problem{status: http.StatusNotFound, message: "Requested entity was not found."}
	},
	noMethod: func(_, _, allowed string) *problem {
		return &problem{status: http.StatusMethodNotAllowed, kind: "UNIMPLEMENTED", message: "Method not allowed.", header: http.Header{"Allow": {allowed}}}
	},
	noModel: func(model string) *problem {
		return &problem{excused: true, status: http.StatusNotFound, message: fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", model)}
	},
	tooConcurrent: func(_ string, limit int) *problem {
		return exhaustedGoogle(fmt.Sprintf("Resource has been exhausted (e.g. check quota): %d concurrent requests.", limit))
	},
	rateLimited: exhaustedGoogle,
}

func exhaustedGoogle(message string) *problem {
	return &problem{status: http.StatusTooManyRequests, message: message}
}

// geminiRecorded are refusals as the Gemini API was recorded to send them.
var geminiRecorded = map[StepName]problem{
	BadRequest:            {status: 400, message: "Request contains an invalid argument."},
	ContextTooLong:        {status: 400, message: "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."},
	ContentPolicy:         {status: 400, message: "The request was blocked because it violates the prohibited use policy."},
	Unauthorized:          {status: 400, message: "API key not valid. Please pass a valid API key.", details: []map[string]any{errorInfo("API_KEY_INVALID", "googleapis.com", map[string]string{"service": geminiDomain})}},
	PaymentRequired:       {status: 400, kind: "FAILED_PRECONDITION", message: "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio."},
	Forbidden:             {status: 400, kind: "FAILED_PRECONDITION", message: "User location is not supported for the API use."},
	NotFound:              {status: 404, message: "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."},
	Conflict:              {status: 409, message: "The operation was aborted."},
	TooLarge:              {status: 413, kind: "INVALID_ARGUMENT", message: "Request payload size exceeds the limit: 20971520 bytes."},
	RequestOverTokenLimit: {status: 429, message: geminiQuota + "\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 250000, model: {model}\nPlease retry in 20s.", details: []map[string]any{quotaFailure("GenerateContentInputTokensPerModelPerMinute-FreeTier", "generate_content_free_tier_input_token_count", "250000", "")}},
	InsufficientQuota:     {status: 429, message: geminiQuota + "\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: {model}\nPlease retry in 20.04466179s.", details: []map[string]any{googleDetail("RetryInfo", map[string]any{"retryDelay": "20s"})}},
	ServerErrorAs429:      {status: 429, message: "Resource has been exhausted (e.g. check quota)."},
	ServerError:           {status: 500, message: "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"},
	Overloaded:            {status: 503, message: "The model is overloaded. Please try again later."},
	SlowDown:              {status: 503, message: "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later."},
	Overloaded529:         {status: 503, message: "The model is overloaded. Please try again later."},
}

// quotaFailure is the detail that names the quota.
func quotaFailure(id, metric, value, model string) map[string]any {
	dimensions := map[string]string{"location": "global"}
	if model != "" {
		dimensions["model"] = model
	}
	return googleDetail("QuotaFailure", map[string]any{"violations": []map[string]any{{
		"quotaMetric": geminiDomain + "/" + metric, "quotaId": id, "quotaDimensions": dimensions, "quotaValue": value,
	}}})
}

// geminiSpent is the answer when the quota is spent. The Gemini API tells nothing of it before.
func geminiSpent(q Quota, w window, to told) *problem {
	if q.Style == QuotaBilling || w.end.IsZero() {
		p := geminiRecorded[InsufficientQuota]
		p.message = forModel(p.message, to.model)
		return &p
	}
	wait := untilEnd(w, to.now)
	p := exhaustedGoogle(fmt.Sprintf("%s\n* Quota exceeded for metric: %s/generate_content_free_tier_requests, limit: %d, model: %s\nPlease retry in %vs.", geminiQuota, geminiDomain, q.limit(w), to.model, wait.Seconds()))
	if q.Style == QuotaProse || q.Style == QuotaSubscriptionBody {
		return p
	}
	id := "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	if q.unit() == perMinute {
		id = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
	}
	p.details = []map[string]any{
		quotaFailure(id, "generate_content_free_tier_requests", fmt.Sprint(q.limit(w)), to.model),
		googleDetail("Help", map[string]any{"links": []map[string]string{{"description": "Learn more about Gemini API quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}}}),
		googleDetail("RetryInfo", map[string]any{"retryDelay": fmt.Sprintf("%vs", wait.Seconds())}),
	}
	return p
}
