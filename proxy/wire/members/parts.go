package members

import (
	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Parts takes a member that holds a text, or a list of parts, of which one reads each; it tells whether the part says
// anything. An empty text is no part.
func (b *Reader) Parts(o *Object, name string, one func(*Object) (p neutral.Part, says bool)) []neutral.Part {
	v, path := o.Take(name), o.Field(name)
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		if text := neutral.Literal(v); !text.Empty() {
			return []neutral.Part{{Kind: neutral.TextPart, Text: text, Path: path}}
		}
		return nil
	case v[0] != '[':
		b.Refuse(path, "must be a string or an array, not "+wire.Kind(v))
		return nil
	}
	var parts []neutral.Part
	list := wire.Array(v)
	for i := 0; ; i++ {
		text, ok := list.Next()
		if !ok {
			return parts
		}
		part := b.Object(At(path, i), text)
		if p, says := one(&part); says {
			parts = append(parts, p)
		}
		part.Rest()
	}
}
