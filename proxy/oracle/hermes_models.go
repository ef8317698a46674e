package oracle

import (
	"encoding/json"
	"slices"
	"strings"
)

// windowKeys are the members in which Hermes looks for a model's window, at any depth of a list's entry.
var windowKeys = []string{
	"context_length", "context_window", "context_size", "max_context_length", "max_position_embeddings", "max_model_len",
	"max_input_tokens", "max_sequence_length", "max_seq_len", "n_ctx_train", "n_ctx", "ctx_size",
}

// SmallestWindow is the least window that Hermes works with: it refuses to start with less.
const SmallestWindow = 64_000

// Catalogue is what Hermes learns from a list of models.
type Catalogue struct {
	IDs      []string
	Windows  map[string]int // by id; a model without a window is not in it
	LlamaCPP bool           // the list made it probe /props
}

// ReadModels reads a list of models (fetch_endpoint_model_metadata).
func ReadModels(body []byte) (Catalogue, error) {
	var list struct {
		Data []map[string]any `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return Catalogue{}, err
	}
	c := Catalogue{Windows: map[string]int{}}
	for _, m := range list.Data {
		id, _ := m["id"].(string)
		if id == "" {
			continue
		}
		c.IDs = append(c.IDs, id)
		if w := findWindow(m); w != 0 {
			c.Windows[id] = w
		}
		c.LlamaCPP = c.LlamaCPP || m["owned_by"] == "llamacpp"
	}
	return c, nil
}

// Window is the window that Hermes takes for the model: the entry of that id; else the only entry, whatever its id; else
// the first whose id holds the name or is held by it. exact tells the first from the guesses.
func (c Catalogue) Window(model string) (window int, exact bool) {
	if slices.Contains(c.IDs, model) {
		return c.Windows[model], true
	}
	if len(c.IDs) == 1 {
		return c.Windows[c.IDs[0]], false
	}
	for _, id := range c.IDs {
		if strings.Contains(id, model) || strings.Contains(model, id) {
			return c.Windows[id], false
		}
	}
	return 0, false
}

// findWindow is the first reasonable number under one of the keys. Two members that disagree are a mistake of the list's:
// then the least is taken, which is what some build of Hermes would find.
func findWindow(v any) int {
	least := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			n := findWindow(member)
			if f, ok := number(member); ok && slices.Contains(windowKeys, strings.ToLower(name)) && f >= 1024 && f <= 10_000_000 {
				n = int(f)
			}
			if n != 0 && (least == 0 || n < least) {
				least = n
			}
		}
	case []any:
		for _, member := range v {
			if n := findWindow(member); n != 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	return least
}
