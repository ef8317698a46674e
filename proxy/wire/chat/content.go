package chat

import (
	"slices"
	"strings"

	"hermes-hub/proxy/wire/members"
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
func (b *body) content(m *members.Object, kinds []string) []neutral.Part {
	return b.Parts(m, "content", func(o *members.Object) (neutral.Part, bool) { return b.part(o, kinds) })
}

// part reads one part. says is false for an empty text.
func (b *body) part(o *members.Object, kinds []string) (p neutral.Part, says bool) {
	kind := o.Text("type")
	if !slices.Contains(kinds, kind) {
		b.Refuse(o.Field("type"), "must be one of "+strings.Join(kinds, ", ")+" in a message of this role")
		return p, false
	}
	p.Path, p.Cache = o.Path, b.cached(o)
	switch kind {
	case "text":
		p.Kind, p.Text = neutral.TextPart, o.Literal("text")
		if o.Peek("text") == nil {
			b.Refuse(o.Field("text"), "is missing")
		}
		return p, !p.Text.Empty()
	case "refusal":
		p.Kind, p.Text = neutral.RefusalPart, o.Literal("refusal")
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

func (b *body) image(o *members.Object) neutral.Media {
	c, ok := o.Child("image_url")
	if !ok {
		b.Refuse(o.Field("image_url"), "is missing")
		return neutral.Media{}
	}
	field, url := c.Field("url"), c.Needed("url")
	m := b.Media(field, url)
	m.Detail = c.Text("detail")
	c.Rest()
	return m
}

func (b *body) audio(o *members.Object) neutral.Media {
	c, ok := o.Child("input_audio")
	if !ok {
		b.Refuse(o.Field("input_audio"), "is missing")
		return neutral.Media{}
	}
	m := neutral.Media{Data: b.Base64(c.Field("data"), c.Needed("data"))}
	switch c.OneOf("format", "wav", "mp3", "flac", "ogg", "aac", "m4a") {
	case "":
		b.Refuse(c.Field("format"), "is missing")
	case "mp3":
		m.Type = "audio/mpeg"
	default:
		m.Type = "audio/" + c.Text("format")
	}
	c.Rest()
	return m
}

func (b *body) file(o *members.Object) (m neutral.Media, name string) {
	c, ok := o.Child("file")
	if !ok {
		b.Refuse(o.Field("file"), "is missing")
		return m, ""
	}
	id, data := c.Text("file_id"), c.Text("file_data")
	switch {
	case data != "" && id != "":
		b.Refuse(c.Path, "must have file_data or file_id, not both")
	case data == "" && id == "":
		b.Refuse(c.Path, "must have file_data or file_id")
	case data != "":
		m = b.Media(c.Field("file_data"), data)
	}
	m.FileID = id
	name = c.Text("filename")
	c.Rest()
	return m, name
}
