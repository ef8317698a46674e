package gemini

import (
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// part writes a part by its members.
func (e *encoder) part(members string) {
	e.comma()
	e.raw("{" + members + "}")
}

// textPart writes a text, nil for an empty one, with the signature that goes with it.
func (e *encoder) textPart(text neutral.Literal, signature string) {
	if text == nil {
		text = neutral.Literal(`""`)
	}
	e.comma()
	e.raw(`{"text":`)
	e.text(text)
	e.signature(signature)
	e.raw("}")
}

func (e *encoder) signature(data string) {
	if data != "" {
		e.raw(`,"thoughtSignature":`)
		e.quote(data)
	}
}

// media writes an image, a sound or a file.
func (e *encoder) media(p *neutral.Part) {
	if p.Media.Detail != "" && p.Media.Detail != "auto" {
		e.drop("messages[].content[].image_url.detail")
	}
	if p.Kind == neutral.FilePart && p.Name != "" {
		e.drop("messages[].content[].file.filename")
	}
	field := p.Path + mediaMember[p.Kind]
	switch {
	case p.Media.FileID != "":
		e.refuse(p.Path+".file.file_id", "means nothing to this account: send the file itself as file_data")
	case p.Media.URL != "" && !googles(p.Media.URL):
		e.refuse(field, "must be a data: URL with base64 for this account, which cannot fetch from the web")
	case p.Media.URL != "":
		e.comma()
		e.raw(`{"fileData":{`)
		e.mimeType(p.Media.Type)
		e.member("fileUri")
		e.quote(p.Media.URL)
		e.raw("}}")
	case p.Media.Type == "":
		e.refuse(field, "must name its media type for this account: data:image/png;base64,…")
	default:
		e.comma()
		e.raw("{")
		e.blob(&p.Media)
		e.raw("}")
	}
}

// mediaMember is where the data of each kind of part stands in a chat completion.
var mediaMember = map[neutral.PartKind]string{
	neutral.ImagePart: ".image_url.url",
	neutral.AudioPart: ".input_audio.data",
	neutral.FilePart:  ".file.file_data",
}

// blob writes inlineData.
func (e *encoder) blob(m *neutral.Media) {
	e.member("inlineData")
	e.raw("{")
	e.mimeType(m.Type)
	e.member("data")
	e.quote(m.Data)
	e.raw("}")
}

// mimeType writes a media type in Google's words (ai.google.dev/gemini-api/docs/audio, …/image-understanding).
func (e *encoder) mimeType(t string) {
	switch t {
	case "":
		return
	case "audio/mpeg":
		t = "audio/mp3"
	case "image/jpg":
		t = "image/jpeg"
	}
	e.member("mimeType")
	e.quote(t)
}

// googles reports whether Google fetches from an address: that of an uploaded file, of a bucket, or of a public video
// (ai.google.dev/gemini-api/docs/files, …/video-understanding).
func googles(url string) bool {
	for _, prefix := range [...]string{
		"https://generativelanguage.googleapis.com/", "https://storage.googleapis.com/", "gs://",
		"https://www.youtube.com/watch?v=", "https://youtu.be/",
	} {
		if strings.HasPrefix(url, prefix) {
			return true
		}
	}
	return false
}

// call writes one call. The first of a step must be signed.
func (e *encoder) call(p *neutral.Part, first bool) {
	e.comma()
	e.raw(`{"functionCall":{"id":`)
	e.quote(e.id(p.ID))
	e.raw(`,"name":`)
	e.quote(functionName(p.Name))
	e.raw(`,"args":`)
	e.arguments(p.Arguments)
	e.raw("}")
	own := p.Seal.Is() && p.Seal.Format == neutral.SealGoogle && !e.m.claude // Claude signs its thoughts, not its calls
	switch {
	case own:
		e.signature(p.Seal.Data)
	case first && e.m.levels():
		e.signature(skipSignature)
	}
	if p.Seal.Is() && !own {
		e.drop("messages[].reasoning_details")
	}
	e.raw("}")
}

// arguments writes the arguments of a call, which must be an object here. A model may have written anything.
func (e *encoder) arguments(text []byte) {
	switch {
	case len(strings.TrimSpace(string(text))) == 0:
		e.raw("{}")
	case isObject(text):
		e.text(text)
	default:
		e.raw(`{"arguments":`)
		e.quote(string(text))
		e.raw("}")
	}
}

// isObject reports whether text is one well-formed JSON object.
func isObject(text []byte) bool {
	m := wire.Object(text)
	for {
		if _, _, ok := m.Next(); !ok {
			return m.Err() == nil
		}
	}
}
