package members

import (
	"strings"

	"hermes-hub/proxy/wire/neutral"
)

// Media reads an address: of the web, or a data: URL with base64.
func (b *Reader) Media(field, url string) neutral.Media {
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return neutral.Media{URL: url}
	}
	head, data, isData := strings.Cut(url, ",")
	kind, named := strings.CutPrefix(head, "data:")
	kind, coded := strings.CutSuffix(kind, ";base64")
	if !isData || !named || !coded {
		b.Refuse(field, "must be an http or https URL, or a data: URL with base64")
		return neutral.Media{}
	}
	kind, _, _ = strings.Cut(kind, ";") // parameters of the type
	return neutral.Media{Type: strings.ToLower(kind), Data: b.Base64(field, data)}
}

// Base64 refuses data with a character that base64 does not have, so that data stands in any JSON as it is.
func (b *Reader) Base64(field, data string) string {
	for i := range len(data) {
		c := data[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
			continue
		}
		b.Refuse(field, "must hold base64 and nothing else")
		return ""
	}
	if data == "" {
		b.Refuse(field, "holds no data")
	}
	return data
}
