package clients

import (
	"context"
	"fmt"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// openAIGoResponses is OpenAI's library for Go on the Responses API, keeping the conversation itself.
func openAIGoResponses() client {
	return client{
		name:    "openai-go responses client",
		missing: func() string { return "" },
		start:   func(*testing.T) func(context.Context, ask) (outcome, error) { return askOpenAIGoResponses },
	}
}

func askOpenAIGoResponses(ctx context.Context, a ask) (outcome, error) {
	lib := openai.NewClient(option.WithBaseURL(a.BaseURL), option.WithAPIKey(a.Key))
	var got outcome
	err := responsesTurn(ctx, lib, a, &got)
	if err != nil && ctx.Err() == nil {
		got.Error = goFailure(err)
		err = nil
	}
	return got, err
}

// responsesTurn makes the turn, and a second call when the answer to the first is a tool call.
func responsesTurn(ctx context.Context, lib openai.Client, a ask, got *outcome) error {
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("What is the weather in Paris?", responses.EasyInputMessageRoleUser)}
	params := responses.ResponseNewParams{
		Model: a.Model,
		Store: openai.Bool(false),
	}
	if a.Tool {
		params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("get_weather", map[string]any{
			"type": "object", "required": []string{"city"}, "additionalProperties": false,
			"properties": map[string]any{"city": map[string]any{"type": "string"}},
		}, true)}
	}
	for {
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: input}
		answer, text, err := responsesAnswer(ctx, lib, params, a.Stream)
		got.Text, got.Finish, got.Tokens = text, string(answer.Status), answer.Usage.TotalTokens
		if err != nil {
			return err
		}
		again := false
		for _, item := range answer.Output {
			if item.Type != "function_call" {
				continue
			}
			call := item.AsFunctionCall()
			got.ToolCall, again = fmt.Sprintf("%s(%s)", call.Name, call.Arguments), true
			result := responses.ResponseInputItemParamOfFunctionCallOutput("sunny")
			result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
			input = append(input, responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name), result)
		}
		if !again {
			return nil
		}
	}
}

// responsesAnswer makes one call. Of a stream that fails it returns what had arrived.
func responsesAnswer(ctx context.Context, lib openai.Client, params responses.ResponseNewParams, stream bool) (answer responses.Response, text string, err error) {
	if !stream {
		whole, err := lib.Responses.New(ctx, params)
		if err != nil {
			return responses.Response{}, "", err
		}
		return *whole, whole.OutputText(), nil
	}
	events := lib.Responses.NewStreaming(ctx, params)
	defer events.Close()
	for events.Next() {
		switch event := events.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += event.Delta
		case responses.ResponseCompletedEvent:
			answer = event.Response
		case responses.ResponseFailedEvent:
			return event.Response, text, &openai.Error{Code: string(event.Response.Error.Code), Message: event.Response.Error.Message}
		case responses.ResponseErrorEvent:
			return answer, text, &openai.Error{Code: event.Code, Message: event.Message}
		}
	}
	return answer, text, events.Err()
}
