package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// messagesReview goes through a Messages body.
type messagesReview struct {
	review
	in       inbound
	counting bool
	body     node
	req      Request
	marks    int // of caches
	turns    []messagesTurn
}

// parseMessages reads a body as Anthropic does, and refuses what Anthropic refuses, in its words.
func parseMessages(in inbound) (Request, *problem) {
	tree, ok := readTree(in.body)
	if !ok {
		return Request{}, invalidMessages("The request body is not valid JSON: unexpected character: line 1 column 1 (char 0)")
	}
	m := &messagesReview{in: in, counting: in.route.op == opCount, body: node{value: tree, found: true, style: &dotted}}
	m.complaints = anthropicComplaints
	if m.knows(); m.outline() {
		m.readTools()
		m.readSystem()
		m.readTurns()
		m.reviewTurns()
		m.reviewThinking()
		m.reviewSampling()
	}
	if wrong := m.first(); wrong != nil {
		return Request{}, wrong
	}
	m.req.PromptTokens = tokens(len(m.body.member("messages").json()) + len(m.body.member("system").json()) + len(m.body.member("tools").json()))
	return m.req, nil
}

// knows lets unknown members pass where an unknown beta may have brought them.
func (m *messagesReview) knows() {
	for _, beta := range betas(m.in.header) {
		if !slices.ContainsFunc(knownBetas, func(known string) bool { return strings.HasPrefix(beta, known) }) {
			m.lenient = true
		}
	}
}

// outline reviews the body's own members.
func (m *messagesReview) outline() bool {
	s := messagesBody
	if m.counting {
		s = messagesCounted
	}
	if !m.shaped(m.body, s) {
		return false
	}
	b := m.body
	m.req = Request{Model: b.member("model").text(), Stream: b.member("stream").yes(), IncludeUsage: true, N: 1}
	if b.member("model").is("") {
		m.refuse(invalidMessages("model: String should have at least 1 character"))
	}
	limit := b.member("max_tokens")
	switch most := outputLimit(m.req.Model); {
	case limit.found && limit.integer() < 1:
		m.refuse(invalidMessages("max_tokens: Input should be greater than or equal to 1"))
	case most > 0 && limit.integer() > most:
		m.refuse(invalidMessages(fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", limit.integer(), most, m.req.Model)))
	}
	if b.member("metadata").found {
		m.shaped(b.member("metadata"), messagesMetadata)
	}
	for _, stop := range b.member("stop_sequences").items() {
		if strings.TrimSpace(stop.text()) == "" {
			m.refuse(invalidMessages("stop_sequences: each stop sequence must contain non-whitespace"))
		}
	}
	m.mark(b.member("cache_control"))
	m.reviewOutput()
	return m.first() == nil
}

// outputLimit is the most tokens that the model answers with, 0 where nobody knows.
func outputLimit(model string) int {
	for _, l := range outputLimits {
		if strings.HasPrefix(model, l.model) {
			return l.limit
		}
	}
	return 0
}

// reviewOutput reviews what shape and effort the answer shall have.
func (m *messagesReview) reviewOutput() {
	config := m.body.member("output_config")
	if config.found {
		m.shaped(config, messagesOutput)
		if effort := config.member("effort"); effort.found && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, effort.text()) {
			m.refuse(invalidMessages("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"))
		}
	}
	for _, format := range []node{config.member("format"), m.body.member("output_format")} {
		switch {
		case kindOf(format.value) == isNull:
		case !format.member("type").is("json_schema"):
			m.refuse(invalidMessages(format.at + ".type: Input should be 'json_schema'"))
		case !format.member("schema").found:
			m.refuse(m.missing(format.member("schema")))
		default:
			m.reviewStrict(format.member("schema").at, format.member("schema"))
		}
	}
}

// mark counts a marker of a cache.
func (m *messagesReview) mark(n node) {
	if kindOf(n.value) == isNull {
		return
	}
	if m.shaped(n, messagesCache) && !n.member("type").is("ephemeral") {
		m.refuse(invalidMessages(n.at + ".type: Input should be 'ephemeral'"))
	}
	if m.marks++; m.marks == 5 {
		m.refuse(invalidMessages(fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", m.marks)))
	}
}

// readSystem reads the instructions: a string, or blocks of text.
func (m *messagesReview) readSystem() {
	system := m.body.member("system")
	m.req.System = system.text()
	for _, block := range system.items() {
		if kind := block.member("type"); kind.found && !kind.is("text") {
			m.refuse(invalidMessages(block.member("type").at + ": Input should be 'text'"))
			continue
		}
		if !m.shaped(block, messagesBlocks["text"]) {
			continue
		}
		if strings.TrimSpace(block.member("text").text()) == "" {
			m.refuse(invalidMessages("system: text content blocks must be non-empty"))
		}
		m.mark(block.member("cache_control"))
		m.req.System += block.member("text").text()
	}
}

// reviewSampling reviews what the sampling parameters may be beside each other.
func (m *messagesReview) reviewSampling() {
	for _, name := range []string{"temperature", "top_p"} {
		value, given := m.body.member(name).number()
		switch {
		case given && value < 0:
			m.refuse(invalidMessages(name + ": Input should be greater than or equal to 0"))
		case given && value > 1:
			m.refuse(invalidMessages(name + ": Input should be less than or equal to 1"))
		case given && value != 1 && adaptiveModels.MatchString(m.req.Model):
			m.refuse(invalidMessages(fmt.Sprintf("`%s` is deprecated for this model.", name)))
		}
	}
	if eitherSampling.MatchString(m.req.Model) && m.body.member("temperature").found && m.body.member("top_p").found {
		m.refuse(invalidMessages("`temperature` and `top_p` cannot both be specified for this model. Please use only one."))
	}
	if top := m.body.member("top_k"); top.found && top.integer() < 0 {
		m.refuse(invalidMessages("top_k: Input should be greater than or equal to 0"))
	}
}
