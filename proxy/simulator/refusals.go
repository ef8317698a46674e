package simulator

import (
	"fmt"
	"net/http"
)

// codeNoModel is OpenAI's code for a model that an account does not have.
const codeNoModel = "model_not_found"

// refusing answers with the problem.
func refusing(p *problem) play {
	return func(x *exchange) error {
		if err := x.pause(x.account.Latency); err != nil {
			return err
		}
		return x.whole(p.status, with(p.header, "Content-Type", p.contentType()), x.dialect.bodyOf(p, x.stamp))
	}
}

// answering answers with the JSON.
func answering(body []byte) play {
	return func(x *exchange) error {
		return x.whole(http.StatusOK, http.Header{"Content-Type": {contentJSON}}, body)
	}
}

// listing answers with the models, or with the one that the route names.
func listing(r route, models []string) play {
	return func(x *exchange) error {
		body := r.dialect.models(models, x.stamp.created)
		if r.op == opModel {
			body = r.dialect.model(r.model, x.stamp.created)
		}
		return answering(body)(x)
	}
}

// openAIWording is how OpenAI refuses.
var openAIWording = wording{
	badKey:        badKey,
	expired:       tokenExpired,
	noPath:        noPath,
	noMethod:      noMethod,
	noModel:       noModel,
	tooConcurrent: tooConcurrent,
	rateLimited:   rateLimited,
}

// badKey is the refusal of a key, which it does not repeat.
func badKey(key string) *problem {
	p := &problem{excused: true, status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided: sk-***. You can find your API key at https://platform.openai.com/account/api-keys."}
	if key == "" {
		p.code, p.message = "", "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys."
	}
	return p
}

// tokenExpired is the refusal of a token that was good.
func tokenExpired() *problem {
	return &problem{excused: true, status: http.StatusUnauthorized, kind: "invalid_request_error", code: "token_expired", message: "Provided authentication token is expired. Please try signing in again."}
}

func noPath(method, path string) *problem {
	return &problem{status: http.StatusNotFound, kind: "invalid_request_error", message: fmt.Sprintf("Invalid URL (%s %s)", method, path)}
}

func noMethod(method, path, allowed string) *problem {
	return &problem{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", code: "method_not_supported", header: http.Header{"Allow": {allowed}}, message: fmt.Sprintf("Not allowed to %s on %s. (HINT: Perhaps you meant to use a different HTTP method?)", method, path)}
}

func noModel(model string) *problem {
	return &problem{excused: true, status: http.StatusNotFound, kind: "invalid_request_error", code: codeNoModel, message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)}
}

func tooConcurrent(model string, limit int) *problem {
	return rateLimited(fmt.Sprintf("Rate limit reached for %s in organization org-simulated on concurrent requests: Limit %d, Used %d, Requested 1.", model, limit, limit))
}

func rateLimited(message string) *problem {
	return &problem{status: http.StatusTooManyRequests, kind: "requests", code: "rate_limit_exceeded", message: message}
}

func insufficientQuota() *problem {
	return &problem{status: http.StatusTooManyRequests, kind: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."}
}
