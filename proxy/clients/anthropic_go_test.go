package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicGo is Anthropic's library for Go, with its own retries.
func anthropicGo() client {
	return client{
		name:    "anthropic-sdk-go client",
		missing: func() string { return "" },
		start:   func(*testing.T) func(context.Context, ask) (outcome, error) { return askAnthropicGo },
	}
}

func askAnthropicGo(ctx context.Context, a ask) (outcome, error) {
	lib := anthropic.NewClient(option.WithBaseURL(strings.TrimSuffix(a.BaseURL, "/v1")), option.WithAPIKey(a.Key))
	var got outcome
	err := anthropicTurn(ctx, lib, a, &got)
	if err != nil && ctx.Err() == nil {
		got.Error = anthropicFailure(err)
		err = nil
	}
	return got, err
}

// anthropicFailure is the library's error in our words. Of an error inside a stream the library tells the JSON alone.
func anthropicFailure(err error) *failure {
	var told struct {
		Error struct{ Type, Message string }
	}
	status, text := 0, err.Error()
	if api, ok := errors.AsType[*anthropic.Error](err); ok {
		status, text = api.StatusCode, api.RawJSON()
	}
	if at := strings.IndexByte(text, '{'); at >= 0 {
		_ = json.Unmarshal([]byte(text[at:]), &told) // what is no JSON has no type
	}
	return &failure{Status: status, Code: told.Error.Type, Message: text}
}

// anthropicTurn makes the turn, and a second call when the answer to the first is a tool call.
func anthropicTurn(ctx context.Context, lib anthropic.Client, a ask, got *outcome) error {
	params := anthropic.MessageNewParams{
		Model:     a.Model,
		MaxTokens: 1024,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("What is the weather in Paris?"))},
	}
	if a.Tool {
		params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "get_weather",
			InputSchema: anthropic.ToolInputSchemaParam{
				Required:   []string{"city"},
				Properties: map[string]any{"city": map[string]any{"type": "string"}},
			},
		}}}
	}
	for {
		answer, err := anthropicMessage(ctx, lib, params, a.Stream)
		got.Text, got.Finish = "", string(answer.StopReason)
		got.Tokens = answer.Usage.InputTokens + answer.Usage.OutputTokens
		var calls []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			switch block.Type {
			case "text":
				got.Text += block.Text
			case "tool_use":
				got.ToolCall = fmt.Sprintf("%s(%s)", block.Name, block.Input)
				calls = append(calls, anthropic.NewToolResultBlock(block.ID, "sunny", false))
			}
		}
		if err != nil || len(calls) == 0 {
			return err
		}
		params.Messages = append(params.Messages, answer.ToParam(), anthropic.NewUserMessage(calls...))
	}
}

// anthropicMessage makes one call. Of a stream that fails it returns what had arrived.
func anthropicMessage(ctx context.Context, lib anthropic.Client, params anthropic.MessageNewParams, stream bool) (anthropic.Message, error) {
	if !stream {
		answer, err := lib.Messages.New(ctx, params)
		if err != nil {
			return anthropic.Message{}, err
		}
		return *answer, nil
	}
	events := lib.Messages.NewStreaming(ctx, params)
	defer events.Close()
	var sum anthropic.Message
	for events.Next() {
		if err := sum.Accumulate(events.Current()); err != nil {
			return sum, err
		}
	}
	return sum, events.Err()
}
