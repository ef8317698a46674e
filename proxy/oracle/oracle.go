// Package oracle says what real clients make of an answer: Hermes Agent, OpenAI's and Anthropic's libraries, the AI SDK,
// LangChain, Codex and Claude Code. It is for tests alone. Nothing here is a client's code; each rule was read in a
// client's source or measured on the wire, and names the version it was found in.
//
// There is one file for each question, and each answer is a pure function:
//
//	python.go          does openai-python read this event stream, and as what?
//	hermes.go          what does Hermes think of this error? (hermes_status.go and hermes_words.go are its parts)
//	hermes_reset.go    when does Hermes believe the trouble is over?
//	hermes_react.go    and what does it do: requests, waits, fallback, benched key
//	hermes_stream.go   does Hermes take this stream for a whole answer?
//	hermes_models.go   what does Hermes learn from a list of models?
//	retries.go         does another client ask again, and how long does it sleep before it does?
//
// An Agent (agent.go) puts them together to a fake Hermes that makes turns over a real HTTP transport.
package oracle
