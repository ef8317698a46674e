package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// messagesTurn is one message as the rules of conversations see it.
type messagesTurn struct {
	node
	role    string
	kinds   []string // of its blocks
	calls   []string // ids of tool_use blocks
	results []messagesResult
	late    bool // a result stands behind something else
	text    string
}

type messagesResult struct {
	at string
	ToolResult
}

// readTurns reads the messages one by one.
func (m *messagesReview) readTurns() {
	list := m.body.member("messages").items()
	if len(list) == 0 {
		m.refuse(invalidMessages("messages: at least one message is required"))
	}
	for i, n := range list {
		if !m.shaped(n, messagesMessage) {
			continue
		}
		turn := messagesTurn{node: n, role: n.member("role").text()}
		m.reviewRole(i, turn.role)
		m.readContent(&turn, i == len(list)-1)
		m.turns = append(m.turns, turn)
		if m.req.LastRole = turn.role; turn.role == "user" && turn.text != "" {
			m.req.LastUser = turn.text
		}
	}
	if last := m.lastTurn(); last != nil && len(last.results) > 0 {
		m.req.LastRole = "tool"
		for _, result := range last.results {
			m.req.Results = append(m.req.Results, result.ToolResult)
		}
	}
}

func (m *messagesReview) lastTurn() *messagesTurn {
	if len(m.turns) == 0 {
		return nil
	}
	return &m.turns[len(m.turns)-1]
}

// reviewRole reviews who may speak. Claude Code says system in the middle of a conversation, for which it has a beta.
func (m *messagesReview) reviewRole(i int, role string) {
	switch {
	case role == "system" && (i == 0 || !hasBeta(m.in.header, "claude-code-") && !m.lenient):
		m.refuse(invalidMessages(`messages: Unexpected role "system". The Messages API accepts a top-level ` + "`system`" + ` parameter, not "system" as an input message role.`))
	case role != "user" && role != "assistant" && role != "system":
		m.refuse(invalidMessages(fmt.Sprintf("messages: Unexpected role \"%s\". Allowed roles are \"user\" or \"assistant\".", role)))
	case i == 0 && role != "user":
		m.refuse(invalidMessages(`messages: first message must use the "user" role`))
	}
}

// readContent reads a message's content: a string, or blocks.
func (m *messagesReview) readContent(turn *messagesTurn, last bool) {
	content := turn.member("content")
	blocks := content.items()
	if content.is("") || kindOf(content.value) == isArray && len(blocks) == 0 {
		if !last || turn.role != "assistant" {
			m.refuse(invalidMessages(turn.at + ": all messages must have non-empty content except for the optional final assistant message"))
		}
		return
	}
	if text := content.text(); kindOf(content.value) == isString {
		turn.kinds, turn.text = []string{"text"}, text
		m.reviewText(text)
		m.reviewEnding(turn, last)
		return
	}
	for _, block := range blocks {
		kind, ok := m.tagged(block, messagesBlocks)
		if !ok {
			continue
		}
		m.reviewPlace(block, kind, turn.role)
		m.readBlock(turn, block, kind)
		turn.kinds = append(turn.kinds, kind)
	}
	m.reviewEnding(turn, last)
}

func (m *messagesReview) reviewText(text string) {
	switch {
	case text == "":
		m.refuse(invalidMessages("messages: text content blocks must be non-empty"))
	case strings.TrimSpace(text) == "":
		m.refuse(invalidMessages("messages: text content blocks must contain non-whitespace text"))
	}
}

// reviewEnding reviews a last message of the assistant's, which the answer would continue.
func (m *messagesReview) reviewEnding(turn *messagesTurn, last bool) {
	if !last || turn.role != "assistant" || len(turn.calls) > 0 {
		return
	}
	switch {
	case prefillEnded.MatchString(m.req.Model):
		m.refuse(invalidMessages("This model does not support assistant message prefill. The conversation must end with a user message."))
	case turn.text != strings.TrimRight(turn.text, " \t\r\n"):
		m.refuse(invalidMessages("messages: final assistant content cannot end with trailing whitespace"))
	}
}

// reviewPlace reviews whether a block may stand in a message of the role.
func (m *messagesReview) reviewPlace(block node, kind, role string) {
	switch kind {
	case "tool_use", "thinking", "redacted_thinking":
		if role != "assistant" {
			m.refuse(invalidMessages(fmt.Sprintf("%s: `%s` blocks can only be in `assistant` messages", block.at, kind)))
		}
	case "tool_result", "image", "document":
		if role != "user" {
			m.refuse(invalidMessages(fmt.Sprintf("%s: `%s` blocks can only be in `user` messages", block.at, kind)))
		}
	}
}

// readBlock reads one block of a message or of a tool's result.
func (m *messagesReview) readBlock(turn *messagesTurn, block node, kind string) {
	switch inner := block.under(kind); kind {
	case "text":
		m.reviewText(block.member("text").text())
		turn.text += block.member("text").text()
	case "image", "document":
		m.readSource(inner.member("source"), kind)
	case "thinking", "redacted_thinking":
		m.reviewSeal(block, kind)
	case "tool_use":
		id := block.member("id").text()
		if !toolUseID.MatchString(id) {
			m.refuse(invalidMessages(inner.member("id").at + ": String should match pattern '^[a-zA-Z0-9_-]+$'"))
		}
		if slices.ContainsFunc(m.turns, func(t messagesTurn) bool { return slices.Contains(t.calls, id) }) || slices.Contains(turn.calls, id) {
			m.refuse(invalidMessages(block.at + ": `tool_use` ids must be unique"))
		}
		if !toolName.MatchString(block.member("name").text()) {
			m.refuse(invalidMessages(inner.member("name").at + ": String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"))
		}
		turn.calls = append(turn.calls, id)
	case "tool_result":
		turn.late = turn.late || slices.ContainsFunc(turn.kinds, func(k string) bool { return k != "tool_result" })
		turn.results = append(turn.results, m.readResult(block))
	}
	m.mark(block.member("cache_control"))
}

// readResult reads what a tool came to.
func (m *messagesReview) readResult(block node) messagesResult {
	content := block.under("tool_result").member("content")
	inner := messagesTurn{text: content.text()}
	for _, piece := range content.items() {
		kind, ok := m.tagged(piece, messagesBlocks)
		if !ok {
			continue
		}
		if !slices.Contains([]string{"text", "image", "document", "search_result", "tool_reference"}, kind) {
			m.refuse(invalidMessages(fmt.Sprintf("%s: `%s` blocks are not permitted within `tool_result`", piece.at, kind)))
			continue
		}
		m.readBlock(&inner, piece, kind)
	}
	return messagesResult{at: block.at, ToolResult: ToolResult{ID: block.member("tool_use_id").text(), Text: inner.text, IsError: block.member("is_error").yes()}}
}

var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// readSource reads where an image or a document comes from.
func (m *messagesReview) readSource(source node, kind string) {
	if kind == "image" {
		m.req.Images++
	}
	from, ok := m.tagged(source, messagesSource)
	if !ok || from != "base64" {
		return
	}
	media := source.member("media_type").text()
	switch {
	case kind == "image" && !slices.Contains(imageTypes, media):
		m.refuse(invalidMessages(source.at + ".base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"))
	case kind == "document" && media != "application/pdf":
		m.refuse(invalidMessages(source.at + ".base64.media_type: Input should be 'application/pdf'"))
	case len(fromBase64(source.member("data").text())) == 0:
		m.refuse(invalidMessages(source.at + ".base64: invalid base64 data"))
	}
}

// reviewTurns reviews that every call of a tool is answered in the next message, and nothing else is.
func (m *messagesReview) reviewTurns() {
	for i, turn := range m.turns {
		var calls, answered []string
		if i > 0 {
			calls = m.turns[i-1].calls
		}
		for _, result := range turn.results {
			switch {
			case !slices.Contains(calls, result.ID):
				m.refuse(invalidMessages(fmt.Sprintf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", result.at, result.ID)))
			case slices.Contains(answered, result.ID):
				m.refuse(invalidMessages(fmt.Sprintf("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", result.at, result.ID)))
			}
			answered = append(answered, result.ID)
		}
		open := slices.DeleteFunc(slices.Clone(calls), func(id string) bool { return !turn.late && slices.Contains(answered, id) })
		if len(open) > 0 {
			m.refuse(unanswered(m.turns[i-1].at, open))
		}
	}
	if last := m.lastTurn(); last != nil && len(last.calls) > 0 {
		m.refuse(unanswered(last.at, last.calls))
	}
}

func unanswered(at string, ids []string) *problem {
	return invalidMessages(fmt.Sprintf("%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, strings.Join(ids, ", ")))
}
