package neutral

// Size is about what the request takes as a body, in bytes, so that an encoder's memory is seldom moved.
func (r *Request) Size() int {
	n := 1 << 10
	for i := range r.Turns {
		n += sizeOf(r.Turns[i].Parts)
	}
	for i := range r.Tools {
		n += len(r.Tools[i].Schema) + len(r.Tools[i].Description) + 128
	}
	return n
}

func sizeOf(parts []Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		n += len(p.Text) + len(p.Media.Data) + len(p.Arguments) + len(p.Arguments)/4 + len(p.Seal.Data) + 128 + sizeOf(p.Result)
	}
	return n
}
