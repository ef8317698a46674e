package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// geminiReview goes through a Gemini body.
type geminiReview struct {
	review
	in    inbound
	cloud bool
	body  node
	req   Request
	turns []geminiTurn
}

// parseGemini reads a body as Google does, and refuses what Google refuses, in its words.
func parseGemini(in inbound) (Request, *problem) {
	tree, ok := readTree(in.body)
	if !ok {
		return Request{}, violations([]*problem{{message: "Invalid JSON payload received. Unexpected end of string."}})
	}
	g := newGeminiReview(in, in.route.model)
	g.body = node{value: tree, found: true, style: &googlePlaces}
	if inner := g.body.member("generateContentRequest"); in.route.op == opCount && inner.found {
		g.body = inner
	}
	return g.read()
}

func newGeminiReview(in inbound, model string) *geminiReview {
	g := &geminiReview{in: in, req: Request{Model: model, IncludeUsage: true, N: 1}}
	g.complaints = googleComplaints
	g.req.Stream = in.route.streamed && in.query.Get("alt") == "sse"
	g.req.listed = in.route.streamed && !g.req.Stream
	g.req.reasons = geminiThinkers.MatchString(model)
	return g
}

// read reads the request: its form first, all of it, then what it says.
func (g *geminiReview) read() (Request, *problem) {
	g.reviewForm()
	if len(g.wrong) > 0 {
		return Request{}, violations(g.wrong)
	}
	g.readTools()
	g.readGeneration()
	g.readTurns()
	g.reviewTurns()
	g.reviewSignatures()
	if wrong := g.first(); wrong != nil {
		return Request{}, wrong
	}
	g.req.PromptTokens = tokens(len(g.body.member("contents").json()) + len(g.body.member("systemInstruction").json()) + len(g.body.member("tools").json()))
	return g.req, nil
}

// reviewForm reviews the names and types of everything.
func (g *geminiReview) reviewForm() {
	if !g.shaped(g.body, geminiBody) {
		return
	}
	for _, content := range append(g.body.member("contents").items(), g.body.member("systemInstruction")) {
		if content.found && g.shaped(content, geminiContent) {
			g.reviewParts(content)
		}
	}
	for _, tool := range g.body.member("tools").items() {
		if !g.shaped(tool, geminiTool) {
			continue
		}
		for _, declaration := range tool.member("functionDeclarations").items() {
			if !g.shaped(declaration, geminiDeclaration) {
				continue
			}
			for _, schema := range []node{declaration.member("parameters"), declaration.member("response")} {
				if schema.found {
					g.reviewSchemaForm(schema)
				}
			}
		}
	}
	config := g.body.member("generationConfig")
	for _, inner := range []struct {
		n node
		s shape
	}{
		{config, geminiGeneration},
		{config.member("thinkingConfig"), geminiThinking},
		{g.body.member("toolConfig"), geminiToolConfig},
		{g.body.member("toolConfig").member("functionCallingConfig"), geminiCalling},
	} {
		if inner.n.found {
			g.shaped(inner.n, inner.s)
		}
	}
	if schema := config.member("responseSchema"); schema.found {
		g.reviewSchemaForm(schema)
	}
}

// reviewParts reviews the form of parts.
func (g *geminiReview) reviewParts(content node) {
	for _, part := range content.member("parts").items() {
		if !g.shaped(part, geminiPart) {
			continue
		}
		set := ""
		for _, name := range geminiData {
			switch {
			case !part.member(name).found:
			case set != "":
				g.refuse(&problem{param: part.at, message: fmt.Sprintf("Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", part.at, name)})
			default:
				set = name
			}
		}
		for _, inner := range []struct {
			name string
			s    shape
		}{{"functionCall", geminiCall}, {"functionResponse", geminiResponse}, {"inlineData", geminiInline}, {"fileData", geminiFile}} {
			if part.member(inner.name).found {
				g.shaped(part.member(inner.name), inner.s)
			}
		}
		g.reviewBytes(part.member("inlineData").member("data"))
		g.reviewBytes(part.member("thoughtSignature"))
	}
}

// reviewBytes reviews what is base64, of either alphabet.
func (g *geminiReview) reviewBytes(n node) {
	if text := n.text(); text != "" && googleBytes(text) == nil {
		g.refuse(&problem{param: n.at, message: fmt.Sprintf("Invalid value at '%s' (TYPE_BYTES), Base64 decoding failed for %q", n.at, text)})
	}
}

// readGeneration reads how the answer shall be made.
func (g *geminiReview) readGeneration() {
	config := g.body.member("generationConfig")
	for _, limit := range []struct {
		name string
		most float64
	}{{"temperature", 2}, {"topP", 1}} {
		n := config.member(limit.name)
		if value, given := n.number(); given && (value < 0 || value > limit.most) {
			g.say("* GenerateContentRequest.%s: %s must be in the range [0.0, %.1f].\n", n.at, snake(limit.name), limit.most)
		}
	}
	if most := config.member("maxOutputTokens"); most.found && most.integer() < 1 {
		g.say("* GenerateContentRequest.%s: max_output_tokens must be positive.\n", most.at)
	}
	if len(config.member("stopSequences").items()) > 5 {
		g.say("* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are allowed.\n")
	}
	if config.member("candidateCount").integer() > 1 {
		g.say("Multiple candidates is not enabled for models/%s", g.req.Model)
	}
	for _, name := range []string{"presencePenalty", "frequencyPenalty"} {
		if value, given := config.member(name).number(); given && value != 0 && geminiThinkers.MatchString(g.req.Model) {
			g.say("Penalty is not enabled for models/%s", g.req.Model)
		}
	}
	mime := config.member("responseMimeType").text()
	switch {
	case (config.member("responseSchema").found || config.member("responseJsonSchema").found) && mime != "application/json" && mime != "text/x.enum":
		g.say("* GenerateContentRequest.generation_config.response_schema: only allowed when response_mime_type is 'application/json'.\n")
	case mime == "application/json" && len(g.req.Tools) > 0 && !geminiSigned.MatchString(g.req.Model):
		g.say("Function calling with a response mime type: 'application/json' is unsupported")
	}
	if schema := config.member("responseSchema"); schema.found {
		g.reviewSchema(schema, schema.at)
	}
	g.readThinking(config.member("thinkingConfig"))
}

func (g *geminiReview) readThinking(config node) {
	g.req.shows = config.member("includeThoughts").yes()
	budget, level := config.member("thinkingBudget"), config.member("thinkingLevel")
	if budget.found && level.found {
		g.say("You can only set only one of thinking budget and thinking level.")
	}
	if level.found && !geminiSigned.MatchString(g.req.Model) {
		g.say("Thinking level is not supported for this model.")
	}
	if level.found && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, strings.ToUpper(level.text())) {
		g.say("Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), %s", level.at, level.json())
	}
	if !budget.found || budget.integer() == -1 {
		return
	}
	for _, limits := range thinkingBudgets {
		if !strings.HasPrefix(g.req.Model, limits.model) {
			continue
		}
		switch n := budget.integer(); {
		case n == 0 && limits.always:
			g.say("Budget 0 is invalid. This model only works in thinking mode.")
		case n != 0 && n < limits.least || n > limits.most:
			g.say("The thinking budget %d is invalid. Please choose a value between %d and %d.", n, limits.least, limits.most)
		}
		return
	}
}

// say refuses in these words.
func (g *geminiReview) say(format string, args ...any) {
	g.refuse(invalidGoogle(fmt.Sprintf(format, args...)))
}
