package proxy

import (
	"net/url"
	"slices"
	"strings"

	"hermes-hub/proxy/wire/gemini"
	"hermes-hub/proxy/wire/messages"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/proxy/wire/responses"
	"hermes-hub/router"
)

// pair is a client's protocol and an account's.
type pair struct{ client, account router.Protocol }

// codecs are the pairs of protocols between which the hub translates. A client is served by accounts of its own protocol in
// any case: there its bytes pass.
var codecs = map[pair]*codec{
	{router.ProtocolChat, router.ProtocolMessages}: {
		path: messagesPath, encode: messages.Encode, answer: messages.DecodeAnswer, marked: true,
		decoder: func(string) neutral.Decoder { return messages.NewDecoder() },
	},
	{router.ProtocolChat, router.ProtocolResponses}: {
		path: responsesPath, encode: responses.Encode, answer: responses.DecodeAnswer, marked: true,
		decoder: func(string) neutral.Decoder { return &responses.Decoder{} },
	},
	{router.ProtocolChat, router.ProtocolGemini}: {
		path: geminiPath, encode: gemini.Encode, answer: gemini.DecodeAnswer,
		decoder: func(model string) neutral.Decoder { return &gemini.Decoder{Model: model} },
	},
	{router.ProtocolChat, router.ProtocolCloudCode}: {
		path: cloudCodePath, encode: gemini.EncodeCloudCode, answer: gemini.DecodeCloudCodeAnswer,
		decoder: func(model string) neutral.Decoder {
			return &gemini.CloudCodeDecoder{Decoder: gemini.Decoder{Model: model}}
		},
	},
}

// codec makes a chat client's request one of the account's protocol, and the account's answer neutral events.
type codec struct {
	path    func(model string, stream bool) string // appended to the account's base URL
	encode  func(*neutral.Request, neutral.Target) (neutral.Encoded, error)
	answer  func(body []byte, events []neutral.Event) ([]neutral.Event, error)
	decoder func(model string) neutral.Decoder
	marked  bool // a stream has an end mark, behind which nothing comes
}

func messagesPath(string, bool) string { return messagesSurface.path }

func responsesPath(string, bool) string { return responsesSurface.path }

// geminiPath: the model stands in the address, and the stream is a method of its own.
func geminiPath(model string, stream bool) string {
	return "/models/" + url.PathEscape(strings.TrimPrefix(model, "models/")) + ":" + generate(stream)
}

func cloudCodePath(_ string, stream bool) string { return "/v1internal:" + generate(stream) }

func generate(stream bool) string {
	if stream {
		return "streamGenerateContent?alt=sse"
	}
	return "generateContent"
}

// protocols are the upstream protocols in the order of the contract.
var protocols = [...]router.Protocol{
	router.ProtocolChat, router.ProtocolMessages, router.ProtocolResponses, router.ProtocolGemini, router.ProtocolCloudCode,
}

// codecOf is the codec between a surface and an account's protocol; nil = there is none, or none is needed.
func codecOf(s *surface, account router.Protocol) *codec {
	if s.alone {
		return nil
	}
	return codecs[pair{s.protocol, account}]
}

// servedBy are the protocols of the accounts that can serve a surface.
func servedBy(s *surface) []router.Protocol {
	served := []router.Protocol{s.protocol}
	for _, p := range protocols {
		if codecOf(s, p) != nil {
			served = append(served, p)
		}
	}
	return served
}

// Protocols are the upstream protocols that the proxy speaks to serve some client or other. A node of another protocol is
// skipped, and check warns.
func Protocols() []router.Protocol {
	var spoken []router.Protocol
	for _, s := range surfaces() {
		for _, p := range servedBy(s) {
			if !slices.Contains(spoken, p) {
				spoken = append(spoken, p)
			}
		}
	}
	return spoken
}
