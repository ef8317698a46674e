package hub

import (
	_ "embed" // the schema
	"slices"
)

//go:embed snapshot.schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of a HubSnapshot; its $defs hold the payload of each event too, by the event's name.
func Schema() []byte { return slices.Clone(schema) }
