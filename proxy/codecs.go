package proxy

import (
	"net/url"
	"slices"
	"strings"

	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/gemini"
	"hermes-hub/proxy/wire/messages"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/proxy/wire/responses"
	"hermes-hub/router"
)

// codecs are what the hub knows of the protocols that accounts speak. A client is served by accounts of its own protocol
// byte for byte; to those of another one its request is translated, if its surface says how (surface.speech): every client
// that can be translated meets every account that can.
var codecs = map[router.Protocol]*codec{
	router.ProtocolChat: {
		path: chatPath, encode: chat.Encode, answer: chat.DecodeAnswer, mark: "[DONE]", own: true,
		decoder: func(string) neutral.Decoder { return &chat.Decoder{} },
	},
	router.ProtocolMessages: {
		path: messagesPath, encode: messages.Encode, answer: messages.DecodeAnswer, marked: true,
		decoder: func(string) neutral.Decoder { return messages.NewDecoder() },
	},
	router.ProtocolResponses: {
		path: responsesPath, encode: responses.Encode, answer: responses.DecodeAnswer, marked: true,
		decoder: func(string) neutral.Decoder { return &responses.Decoder{} },
	},
	router.ProtocolGemini: {
		path: geminiPath, encode: gemini.Encode, answer: gemini.DecodeAnswer,
		decoder: func(model string) neutral.Decoder { return &gemini.Decoder{Model: model} },
	},
	router.ProtocolCloudCode: {
		path: cloudCodePath, encode: gemini.EncodeCloudCode, answer: gemini.DecodeCloudCodeAnswer,
		decoder: func(model string) neutral.Decoder {
			return &gemini.CloudCodeDecoder{Decoder: gemini.Decoder{Model: model}}
		},
	},
}

// codec makes a neutral request one of the account's protocol, and the account's answer neutral events.
type codec struct {
	path    func(model string, stream bool) string // appended to the account's base URL
	encode  func(*neutral.Request, neutral.Target) (neutral.Encoded, error)
	answer  func(body []byte, events []neutral.Event) ([]neutral.Event, error)
	decoder func(model string) neutral.Decoder
	marked  bool   // the last event of an answer is the end mark of the stream, behind which nothing comes
	mark    string // data of an event that is nothing but the end mark; "" = there is none
	own     bool   // servers of the protocol stumble over what others have sealed: they are sent only what is known to be theirs
}

func chatPath(string, bool) string { return chatSurface.path }

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
	if s.alone || s.speech == nil || account == s.protocol {
		return nil
	}
	return codecs[account]
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
