package hub

import "encoding/json"

// Maybe is a value, or unknown, which is null in JSON. The zero value is unknown.
type Maybe[T any] struct {
	Value T
	Known bool
}

// Known returns a value that is known.
func Known[T any](v T) Maybe[T] { return Maybe[T]{Value: v, Known: true} }

// MarshalJSON implements json.Marshaler.
func (m Maybe[T]) MarshalJSON() ([]byte, error) {
	if !m.Known {
		return []byte("null"), nil
	}
	return json.Marshal(m.Value)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Maybe[T]) UnmarshalJSON(data []byte) error {
	*m = Maybe[T]{}
	if string(data) == "null" {
		return nil
	}
	m.Known = true
	return json.Unmarshal(data, &m.Value)
}

// text is a text, unknown where it is empty.
func text(s string) Maybe[string] { return Maybe[string]{s, s != ""} }
