package clients

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// openAIGo is OpenAI's library for Go, with its own retries.
func openAIGo() client {
	return client{
		name:    "openai-go client",
		missing: func() string { return "" },
		start:   func(*testing.T) func(context.Context, ask) (outcome, error) { return askOpenAIGo },
	}
}

var errNoChoice = errors.New("the answer has no choice")

func askOpenAIGo(ctx context.Context, a ask) (outcome, error) {
	lib := openai.NewClient(option.WithBaseURL(a.BaseURL), option.WithAPIKey(a.Key))
	var got outcome
	var err error
	switch a.Call {
	case "models":
		pages := lib.Models.ListAutoPaging(ctx)
		for pages.Next() {
			got.Models = append(got.Models, pages.Current().ID)
		}
		err = pages.Err()
	case "model":
		var m *openai.Model
		if m, err = lib.Models.Get(ctx, a.Model); err == nil {
			got.Models = []string{m.ID}
		}
	default:
		err = goChat(ctx, lib, a, &got)
	}
	if err != nil && ctx.Err() == nil {
		got.Error = goFailure(err)
		err = nil
	}
	return got, err
}

// goFailure is the library's error in our words. Of an error inside a stream the library tells the JSON alone.
func goFailure(err error) *failure {
	if api, ok := errors.AsType[*openai.Error](err); ok {
		return &failure{Status: api.StatusCode, Code: api.Code, Message: api.Message}
	}
	var told failure
	if _, text, ok := strings.Cut(err.Error(), "received error while streaming: "); ok && json.Unmarshal([]byte(text), &told) == nil {
		return &told
	}
	return &failure{Message: err.Error()}
}

// goChat makes the turn, and a second call when the answer to the first is a tool call.
func goChat(ctx context.Context, lib openai.Client, a ask, got *outcome) error {
	params := openai.ChatCompletionNewParams{
		Model:    a.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the weather in Paris?")},
	}
	if a.Usage {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if a.Tool {
		params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "get_weather",
			Parameters: shared.FunctionParameters{
				"type": "object", "required": []string{"city"},
				"properties": map[string]any{"city": map[string]any{"type": "string"}},
			},
		})}
	}
	for {
		answer, err := goComplete(ctx, lib, params, a.Stream)
		if len(answer.Choices) == 0 {
			return cmp.Or(err, errNoChoice)
		}
		choice := answer.Choices[0]
		got.Text, got.Finish, got.Tokens = choice.Message.Content, string(choice.FinishReason), answer.Usage.TotalTokens
		if err != nil || len(choice.Message.ToolCalls) == 0 {
			return err
		}
		call := choice.Message.ToolCalls[0]
		got.ToolCall = fmt.Sprintf("%s(%s)", call.Function.Name, call.Function.Arguments)
		params.Messages = append(params.Messages, choice.Message.ToParam(), openai.ToolMessage("sunny", call.ID))
	}
}

// goComplete makes one call. Of a stream that fails it returns what had arrived.
func goComplete(ctx context.Context, lib openai.Client, params openai.ChatCompletionNewParams, stream bool) (openai.ChatCompletion, error) {
	if !stream {
		answer, err := lib.Chat.Completions.New(ctx, params)
		if err != nil {
			return openai.ChatCompletion{}, err
		}
		return *answer, nil
	}
	chunks := lib.Chat.Completions.NewStreaming(ctx, params)
	defer chunks.Close()
	var sum openai.ChatCompletionAccumulator
	for chunks.Next() {
		if !sum.AddChunk(chunks.Current()) {
			return sum.ChatCompletion, errors.New("a chunk belongs to another answer")
		}
	}
	return sum.ChatCompletion, chunks.Err()
}
