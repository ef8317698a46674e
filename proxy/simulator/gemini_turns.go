package simulator

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// geminiTurn is one content as the rules of conversations see it.
type geminiTurn struct {
	node
	role    string
	calls   []node // parts with a functionCall
	results []node // parts with a functionResponse
	says    bool   // something else that is no thought
}

// readTurns reads the contents one by one.
func (g *geminiReview) readTurns() {
	for _, part := range g.body.member("systemInstruction").member("parts").items() {
		g.reviewData(part)
		g.req.System += part.member("text").text()
	}
	contents := g.body.member("contents").items()
	if len(contents) == 0 {
		g.say("* GenerateContentRequest.contents: contents is not specified\n")
	}
	for _, n := range contents {
		turn := geminiTurn{node: n, role: n.member("role").text()}
		if turn.role == "" {
			turn.role = "user"
		}
		if !slices.Contains([]string{"user", "model", "function"}, turn.role) {
			g.say("Please use a valid role: user, model.")
		}
		if len(n.member("parts").items()) == 0 {
			g.say("* GenerateContentRequest.%s.parts: contents.parts must not be empty.\n", n.at)
		}
		var text strings.Builder
		for _, part := range n.member("parts").items() {
			text.WriteString(g.readPart(&turn, part))
		}
		g.turns = append(g.turns, turn)
		if g.req.LastRole = turn.role; turn.role == "user" && text.String() != "" {
			g.req.LastUser = text.String()
		}
	}
	g.readResults()
}

// readResults reads what the last content brings of tools.
func (g *geminiReview) readResults() {
	if len(g.turns) == 0 || len(g.turns[len(g.turns)-1].results) == 0 {
		return
	}
	g.req.LastRole = "tool"
	for _, part := range g.turns[len(g.turns)-1].results {
		response := part.member("functionResponse")
		g.req.Results = append(g.req.Results, ToolResult{ID: response.member("id").text(), Name: response.member("name").text(), Text: string(response.member("response").json())})
	}
}

// readPart reads one part, and is its text.
func (g *geminiReview) readPart(turn *geminiTurn, part node) string {
	switch {
	case part.member("functionCall").found:
		turn.calls = append(turn.calls, part)
		if turn.role != "model" {
			g.say("Please ensure that function call turns are of role model.")
		}
		g.reviewName(part.member("functionCall").member("name"))
		return ""
	case part.member("functionResponse").found:
		turn.results = append(turn.results, part)
		if turn.role == "model" {
			g.say("Please ensure that function response turns are of role user or function.")
		}
		g.reviewName(part.member("functionResponse").member("name"))
		return ""
	case part.member("inlineData").found:
		media := part.member("inlineData").member("mimeType").text()
		if g.req.Images++; !slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "text/plain"}, media) && !strings.HasPrefix(media, "audio/") && !strings.HasPrefix(media, "video/") {
			g.say("Unsupported MIME type: %s", media)
		}
	case part.member("thought").yes():
		g.reviewData(part)
		return ""
	}
	g.reviewData(part)
	turn.says = true
	return part.member("text").text()
}

// reviewData reviews that a part holds something. An empty text is nothing (router-for-me/CLIProxyAPI 1293, 3485), but a
// signature may come with one, and must come back with it.
func (g *geminiReview) reviewData(part node) {
	holds := func(name string) bool {
		return part.member(name).found && (name != "text" || part.member(name).text() != "" || part.member("thoughtSignature").found)
	}
	if !slices.ContainsFunc(geminiData, holds) {
		g.say("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", part.at)
	}
}

func (g *geminiReview) reviewName(name node) {
	if name.text() == "" {
		g.say("* GenerateContentRequest.%s: Name cannot be empty.\n", name.at)
	}
}

// reviewTurns reviews who speaks after whom, and that calls are answered at once, all of them and in their order.
func (g *geminiReview) reviewTurns() {
	for i, turn := range g.turns {
		var before geminiTurn
		if i > 0 {
			before = g.turns[i-1]
		}
		switch {
		case i > 0 && (turn.role == "model") == (before.role == "model"):
			g.say("Please ensure that multiturn requests alternate between user and model.")
		case len(turn.calls) > 0 && i == 0:
			g.say("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case len(turn.results) > 0 && len(before.calls) == 0:
			g.say("Please ensure that function response turn comes immediately after a function call turn.")
		case len(turn.results) != len(before.calls):
			g.say("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		default:
			g.reviewPairs(before.calls, turn.results)
		}
	}
	if len(g.turns) == 0 {
		return
	}
	switch last := g.turns[len(g.turns)-1]; {
	case len(last.calls) > 0:
		g.say("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	case last.role == "model" && strings.HasPrefix(g.req.Model, "gemini-") && !geminiPrefilled.MatchString(g.req.Model):
		g.say("Requests ending with a model turn are not supported unless the last part is a function response.")
	}
}

// reviewPairs reviews that results bear the names, and the ids where they have some, of their calls.
func (g *geminiReview) reviewPairs(calls, results []node) {
	for i, result := range results {
		call, response := calls[i].member("functionCall"), result.member("functionResponse")
		if call.member("name").value != response.member("name").value {
			g.say("Please ensure that the function response names match the function call names of the function call turn: expected %s, got %s.", call.member("name").text(), response.member("name").text())
		}
		if id := response.member("id"); id.found && call.member("id").found && id.value != call.member("id").value {
			g.say("Please ensure that the function response ids match the function call ids of the function call turn: expected %s, got %s.", call.member("id").text(), id.text())
		}
		if strings.HasPrefix(g.req.Model, "claude-") && (!call.member("id").found || !response.member("id").found) {
			fault := messagesError{Type: "error", Error: messagesFault{Type: "invalid_request_error", Message: fmt.Sprintf("messages.%d.content.0.tool_use.id: Field required", len(g.turns)-2)}, RequestID: "req_vrtx_simulated"}
			g.say("%s", encode(fault))
		}
	}
}

// skipSignatures are what Google documents to stand where a call was not made by its model.
var skipSignatures = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

// reviewSignatures reviews that signatures are this account's, and that the first call of each step of the turn that is not
// over yet has one.
func (g *geminiReview) reviewSignatures() {
	begin := 0
	for i, turn := range g.turns {
		if turn.role == "user" && turn.says && len(turn.results) == 0 {
			begin = i
		}
	}
	for i, turn := range g.turns {
		for j, part := range turn.calls {
			signature := part.member("thoughtSignature").text()
			if signature == "" && j == 0 && i > begin && geminiSigned.MatchString(g.req.Model) {
				g.say("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", part.member("functionCall").member("name").text(), i+1)
			}
		}
		for _, part := range turn.member("parts").items() {
			if signature := part.member("thoughtSignature").text(); signature != "" && !g.owns(signature) {
				g.refuseSignature()
			}
		}
	}
}

func (g *geminiReview) refuseSignature() {
	if g.cloud {
		g.say("Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini")
		return
	}
	g.say("Corrupted thought signature.")
}

// owns reports whether the account made the signature, or need not have.
func (g *geminiReview) owns(signature string) bool {
	if slices.Contains(skipSignatures, signature) {
		return true
	}
	token := googleBytes(signature)
	_, own := unseal(g.in.account.Name, token)
	return own || slices.Contains(skipSignatures, string(token))
}

// googleBytes reads base64 of either alphabet, padded or not; nil of what is none.
func googleBytes(text string) []byte {
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	token, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return token
}
