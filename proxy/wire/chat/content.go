package chat

import (
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// The kinds of parts that each role's content may hold.
var (
	systemParts    = []string{"text"}
	userParts      = []string{"text", "image_url", "input_audio", "file"}
	assistantParts = []string{"text", "refusal"}
	resultParts    = []string{"text", "image_url"}
)

// content reads a message's content: a text, or a list of parts of the kinds that its role may hold.
func (b *body) content(m *object, kinds []string) []neutral.Part {
	v, path := m.take("content"), m.field("content")
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		if neutral.Literal(v).Empty() {
			return nil
		}
		return []neutral.Part{{Kind: neutral.TextPart, Text: v, Path: path}}
	case v[0] != '[':
		b.refuse(path, "must be a string or an array, not "+wire.Kind(v))
		return nil
	}
	var parts []neutral.Part
	list := wire.Array(v)
	for i := 0; ; i++ {
		text, ok := list.Next()
		if !ok {
			return parts
		}
		o := b.object(at(path, i), text)
		if p, says := b.part(&o, kinds); says {
			parts = append(parts, p)
		}
		o.rest()
	}
}

// part reads one part. says is false for an empty text.
func (b *body) part(o *object, kinds []string) (p neutral.Part, says bool) {
	kind := o.text("type")
	if !slices.Contains(kinds, kind) {
		b.refuse(o.field("type"), "must be one of "+strings.Join(kinds, ", ")+" in a message of this role")
		return p, false
	}
	p.Path, p.Cache = o.path, b.cached(o)
	switch kind {
	case "text":
		p.Kind, p.Text = neutral.TextPart, o.literal("text")
		if o.peek("text") == nil {
			b.refuse(o.field("text"), "is missing")
		}
		return p, !p.Text.Empty()
	case "refusal":
		p.Kind, p.Text = neutral.RefusalPart, o.literal("refusal")
		return p, !p.Text.Empty()
	case "image_url":
		p.Kind, p.Media = neutral.ImagePart, b.image(o)
	case "input_audio":
		p.Kind, p.Media = neutral.AudioPart, b.audio(o)
	case "file":
		p.Kind = neutral.FilePart
		p.Media, p.Name = b.file(o)
	}
	return p, true
}

func (b *body) image(o *object) neutral.Media {
	c, ok := o.child("image_url")
	if !ok {
		b.refuse(o.field("image_url"), "is missing")
		return neutral.Media{}
	}
	field, url := c.field("url"), c.needed("url")
	m := b.media(field, url)
	m.Detail = c.text("detail")
	c.rest()
	return m
}

// media reads an address: of the web, or a data: URL with base64.
func (b *body) media(field, url string) neutral.Media {
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return neutral.Media{URL: url}
	}
	head, data, isData := strings.Cut(url, ",")
	kind, named := strings.CutPrefix(head, "data:")
	kind, coded := strings.CutSuffix(kind, ";base64")
	if !isData || !named || !coded {
		b.refuse(field, "must be an http or https URL, or a data: URL with base64")
		return neutral.Media{}
	}
	kind, _, _ = strings.Cut(kind, ";") // parameters of the type
	return neutral.Media{Type: strings.ToLower(kind), Data: b.base64(field, data)}
}

// base64 refuses data with a character that base64 does not have, so that data stands in any JSON as it is.
func (b *body) base64(field, data string) string {
	for i := range len(data) {
		c := data[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
			continue
		}
		b.refuse(field, "must hold base64 and nothing else")
		return ""
	}
	if data == "" {
		b.refuse(field, "holds no data")
	}
	return data
}

func (b *body) audio(o *object) neutral.Media {
	c, ok := o.child("input_audio")
	if !ok {
		b.refuse(o.field("input_audio"), "is missing")
		return neutral.Media{}
	}
	m := neutral.Media{Data: b.base64(c.field("data"), c.needed("data"))}
	switch c.oneOf("format", "wav", "mp3", "flac", "ogg", "aac", "m4a") {
	case "":
		b.refuse(c.field("format"), "is missing")
	case "mp3":
		m.Type = "audio/mpeg"
	default:
		m.Type = "audio/" + c.text("format")
	}
	c.rest()
	return m
}

func (b *body) file(o *object) (m neutral.Media, name string) {
	c, ok := o.child("file")
	if !ok {
		b.refuse(o.field("file"), "is missing")
		return m, ""
	}
	id, data := c.text("file_id"), c.text("file_data")
	switch {
	case data != "" && id != "":
		b.refuse(c.path, "must have file_data or file_id, not both")
	case data == "" && id == "":
		b.refuse(c.path, "must have file_data or file_id")
	case data != "":
		m = b.media(c.field("file_data"), data)
	}
	m.FileID = id
	name = c.text("filename")
	c.rest()
	return m, name
}
