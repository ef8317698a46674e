package responses

import (
	"cmp"
	"strings"

	"hermes-hub/proxy/wire/neutral"
)

// content writes one part of a message, or of a result.
func (i *input) content(p *neutral.Part) error {
	i.separate()
	switch p.Kind {
	case neutral.TextPart:
		if i.message == "assistant" {
			i.add(`{"type":"output_text","text":`)
		} else {
			i.add(`{"type":"input_text","text":`)
		}
		i.raw(p.Text)
	case neutral.RefusalPart:
		i.add(`{"type":"refusal","refusal":`)
		i.raw(p.Text)
	case neutral.ImagePart:
		return i.image(p)
	case neutral.FilePart:
		i.file(p)
	default:
		return refuse(p.Path, "cannot be sent to this account: its protocol (Responses) takes texts, images and files")
	}
	i.add(`}`)
	return nil
}

func (i *input) image(p *neutral.Part) error {
	if i.message != "user" {
		return refuse(p.Path, "cannot hold an image: only a user's message and a tool's result can")
	}
	i.add(`{"type":"input_image",`)
	switch m := &p.Media; {
	case m.FileID != "":
		i.add(`"file_id":`)
		i.quote(m.FileID)
	case m.URL != "":
		i.add(`"image_url":`)
		i.quote(m.URL)
	default:
		i.add(`"image_url":`)
		i.data(p, "image/png")
	}
	if p.Media.Detail != "" {
		i.add(`,"detail":`)
		i.quote(p.Media.Detail)
	}
	i.add(`}`)
	return nil
}

func (i *input) file(p *neutral.Part) {
	i.add(`{"type":"input_file",`)
	switch m := &p.Media; {
	case m.FileID != "":
		i.add(`"file_id":`)
		i.quote(m.FileID)
	case m.URL != "":
		i.add(`"file_url":`)
		i.quote(m.URL)
	default:
		i.add(`"filename":`)
		i.quote(cmp.Or(p.Name, "file.pdf")) // is wanted with data
		i.add(`,"file_data":`)
		i.data(p, "application/pdf")
	}
}

// data writes base64 as a data: URL.
func (i *input) data(p *neutral.Part, otherwise string) {
	i.quote("data:" + cmp.Or(strings.ToLower(p.Media.Type), otherwise) + ";base64,")
	i.body = append(append(i.body[:len(i.body)-1], p.Media.Data...), '"')
}
