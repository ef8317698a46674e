package responses

import (
	"strings"

	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// content reads a text, or a list of parts.
func (b *body) content(o *members.Object, name string, role neutral.Role) []neutral.Part {
	return b.Parts(o, name, func(one *members.Object) (neutral.Part, bool) { return b.part(one, role) })
}

// part reads one part. says is false for an empty text.
func (b *body) part(o *members.Object, role neutral.Role) (p neutral.Part, says bool) {
	p.Path = o.Path
	seen := role == neutral.User || role == neutral.ToolRole
	switch kind := o.Text("type"); {
	case kind == "input_text", kind == "output_text", kind == "text":
		p.Kind, p.Text = neutral.TextPart, o.Literal("text")
		o.Take("annotations") // of an answer; nothing to send back
		o.Take("logprobs")
		if o.Peek("text") == nil {
			b.Refuse(o.Field("text"), "is missing")
		}
		return p, !p.Text.Empty()
	case kind == "refusal" && role == neutral.Assistant:
		p.Kind, p.Text = neutral.RefusalPart, o.Literal("refusal")
		return p, !p.Text.Empty()
	case kind == "input_image" && seen:
		p.Kind, p.Media = neutral.ImagePart, b.image(o)
	case kind == "input_file" && seen:
		p.Kind, p.Name = neutral.FilePart, o.Text("filename")
		p.Media = b.file(o)
	case kind == "input_audio" && seen:
		p.Kind, p.Media = neutral.AudioPart, b.audio(o)
	default:
		b.Refuse(o.Field("type"), "is no type of part that an item like this can hold for an account of this protocol")
		return p, false
	}
	return p, true
}

// one refuses a part that is given in no way, or in several.
func (b *body) one(path, names string, given ...string) {
	n := 0
	for _, g := range given {
		if g != "" {
			n++
		}
	}
	if n != 1 {
		b.Refuse(path, "must have one of "+names)
	}
}

func (b *body) image(o *members.Object) (m neutral.Media) {
	url, id := o.Text("image_url"), o.Text("file_id")
	b.one(o.Path, "image_url, file_id", url, id)
	if url != "" {
		m = b.Media(o.Field("image_url"), url)
	}
	m.FileID = id
	if m.Detail = o.Text("detail"); m.Detail == "auto" { // what it is without
		m.Detail = ""
	}
	return m
}

func (b *body) file(o *members.Object) (m neutral.Media) {
	url, data, id := o.Text("file_url"), o.Text("file_data"), o.Text("file_id")
	b.one(o.Path, "file_url, file_data, file_id", url, data, id)
	switch {
	case strings.HasPrefix(data, "data:"):
		m = b.Media(o.Field("file_data"), data)
	case data != "":
		m.Data = b.Base64(o.Field("file_data"), data)
	case url != "":
		m = b.Media(o.Field("file_url"), url)
	}
	m.FileID = id
	if o.Peek("detail") != nil && string(o.Peek("detail")) == `"auto"` {
		o.Take("detail")
	}
	return m
}

func (b *body) audio(o *members.Object) neutral.Media {
	c, ok := o.Child("input_audio")
	if !ok {
		b.Refuse(o.Field("input_audio"), "is missing")
		return neutral.Media{}
	}
	m := neutral.Media{Data: b.Base64(c.Field("data"), c.Needed("data"))}
	switch format := c.OneOf("format", "wav", "mp3"); format {
	case "mp3":
		m.Type = "audio/mpeg"
	default:
		m.Type = "audio/" + format
	}
	c.Rest()
	return m
}
