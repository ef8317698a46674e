package chat

import (
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// thoughts reads what the model thought before it said what it said, and gives the calls the seals that are theirs.
func (b *body) thoughts(m *members.Object, calls []neutral.Part) []neutral.Part {
	t := thoughts{b: b, calls: calls}
	list, some := m.List("reasoning_details")
	for i := 0; some; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		d := b.Object(members.At(m.Field("reasoning_details"), i), text)
		t.detail(&d)
	}
	t.close(neutral.Seal{})
	if s := b.googleSeal(m); s.Is() {
		t.parts = append(t.parts, neutral.Part{Kind: neutral.ReasoningPart, Seal: s, Path: m.Path})
	}
	read, other := m.Literal("reasoning_content"), m.Literal("reasoning")
	if blank(read) {
		read = other
	}
	if len(t.parts) == 0 && !blank(read) {
		t.parts = []neutral.Part{{Kind: neutral.ReasoningPart, Text: read, Path: m.Field("reasoning_content")}}
	}
	return t.parts
}

// blank reports whether there is nothing to read. Some clients pad: providers want the member, be it only a space.
func blank(l neutral.Literal) bool {
	for _, c := range l.Inner() {
		if c != ' ' {
			return false
		}
	}
	return true
}

// googleSeal reads extra_content.google.thought_signature of a call, or of a message.
func (b *body) googleSeal(o *members.Object) neutral.Seal {
	extra, ok := o.Child("extra_content")
	if !ok {
		return neutral.Seal{}
	}
	google, ok := extra.Child("google")
	extra.Rest()
	if !ok {
		return neutral.Seal{}
	}
	data := google.Text("thought_signature")
	google.Rest()
	if data == "" {
		return neutral.Seal{}
	}
	return neutral.Seal{Format: neutral.SealGoogle, Data: data, Hidden: true}
}

// thoughts puts blocks together from the pieces that reasoning_details may come in.
type thoughts struct {
	b     *body
	calls []neutral.Part
	parts []neutral.Part

	pending []neutral.Literal // texts of the block that is not closed
	path    string            // of the first of them
	index   string            // of the block, as the client wrote it; "" = not said
}

// detail reads one piece.
func (t *thoughts) detail(d *members.Object) {
	kind := d.OneOf("type", "reasoning.text", "reasoning.summary", "reasoning.encrypted")
	seal := neutral.Seal{Format: neutral.SealFormat(d.Text("format")), ID: d.Text("id")}
	index := string(d.Take("index"))
	switch kind {
	case "reasoning.text", "reasoning.summary":
		text := d.Literal("text")
		if text.Empty() {
			text = d.Literal("summary")
		}
		if index != t.index {
			t.close(neutral.Seal{})
		}
		t.add(text, index, d.Path)
		if seal.Data = d.Text("signature"); seal.Is() {
			if seal.Format == "" {
				seal.Format = neutral.SealAnthropic
			}
			t.close(seal)
		}
	case "reasoning.encrypted":
		if seal.Data = d.Text("data"); seal.Is() {
			t.encrypted(seal, d.Path)
		}
	}
	d.Rest()
}

func (t *thoughts) add(text neutral.Literal, index, path string) {
	if len(t.pending) == 0 {
		t.path, t.index = path, index
	}
	if !text.Empty() {
		t.pending = append(t.pending, text)
	}
}

// encrypted takes a seal that comes alone. It is a call's if it has the call's id. Anthropic's hides a whole thought; any
// other ends the block before it.
func (t *thoughts) encrypted(s neutral.Seal, path string) {
	for i := range t.calls {
		if c := &t.calls[i]; s.ID != "" && s.ID == c.ID {
			if !c.Seal.Is() {
				c.Seal = neutral.Seal{Format: neutral.SealGoogle, Data: s.Data, Hidden: true}
			}
			return
		}
	}
	if s.Format == neutral.SealAnthropic {
		t.close(neutral.Seal{})
	}
	t.add(nil, "", path)
	s.Hidden = len(t.pending) == 0
	t.close(s)
}

// close ends the block with its seal, or without one.
func (t *thoughts) close(s neutral.Seal) {
	if len(t.pending) > 0 || s.Is() {
		t.parts = append(t.parts, neutral.Part{Kind: neutral.ReasoningPart, Text: join(t.pending), Seal: s, Path: t.path})
	}
	t.pending, t.index = t.pending[:0], ""
}

// join sets texts one behind the other.
func join(texts []neutral.Literal) neutral.Literal {
	switch len(texts) {
	case 0:
		return nil
	case 1:
		return texts[0]
	}
	joined := neutral.Literal{'"'}
	for _, t := range texts {
		joined = append(joined, t.Inner()...)
	}
	return append(joined, '"')
}
