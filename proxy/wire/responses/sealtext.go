package responses

import (
	"bytes"
	"net/url"
	"strings"

	"hermes-hub/proxy/wire/neutral"
)

// foreignSeal begins the encrypted_content of reasoning that another provider than OpenAI has sealed:
//
//	hub:<format>:<hidden>:<id of the call>:<data>
//
// A client gives it back as it came, like any other; the hub knows from it whose it is, and that it is a call's.
const foreignSeal = "hub:"

// unsealed is what a thought has that nobody has sealed: an item of nothing but a name and a text would be looked up, by the
// name, where OpenAI keeps answers.
const unsealed = foreignSeal + ":0::"

// SealText is a seal as it stands in a client's conversation; call is the id of the call that it belongs to, "" = none.
func SealText(s neutral.Seal, call string) string {
	if s.Format == neutral.SealOpenAI && call == "" {
		return s.Data
	}
	hidden := "0"
	if s.Hidden {
		hidden = "1"
	}
	return foreignSeal + url.QueryEscape(string(s.Format)) + ":" + hidden + ":" + url.QueryEscape(call) + ":" + s.Data
}

// openSeal reads what SealText has written, or OpenAI's own.
func openSeal(text string) (s neutral.Seal, call string) {
	if text == "" {
		return s, ""
	}
	rest, foreign := strings.CutPrefix(text, foreignSeal)
	fields := strings.SplitN(rest, ":", 4)
	if !foreign || len(fields) != 4 {
		return neutral.Seal{Format: neutral.SealOpenAI, Data: text, Hidden: true}, ""
	}
	format, wrong := url.QueryUnescape(fields[0])
	call, worse := url.QueryUnescape(fields[2])
	if wrong != nil || worse != nil {
		return neutral.Seal{Format: neutral.SealOpenAI, Data: text, Hidden: true}, ""
	}
	return neutral.Seal{Format: neutral.SealFormat(format), Data: fields[3], Hidden: fields[1] == "1"}, call
}

// ByOthers reports whether an encrypted_content is not of a provider that speaks Responses, so that none can open it.
func ByOthers(value []byte) bool { return bytes.HasPrefix(value, []byte(foreignSeal)) }

// SealedByOthers reports whether there may be any in a request.
func SealedByOthers(body []byte) bool { return bytes.Contains(body, []byte(`"`+foreignSeal)) }
