package router

import (
	"cmp"
	"regexp"
	"strings"
)

// Ability is whether a model can do something.
type Ability uint8

// The answers. What is unknown is never held against a model.
const (
	Unknown Ability = iota
	Able
	Unable
)

// Model is what is known of a model wherever it is served, unless a row for one provider says otherwise. The zero Model is
// one of which nothing is known.
type Model struct {
	Window     int // tokens of prompt and answer together; 0 = unknown
	MaxOutput  int // tokens of an answer; 0 = unknown
	Tools      Ability
	Vision     Ability // images in the prompt
	Structured Ability // an answer by a JSON schema
}

// ModelOf tells what is known of a provider's model. A name is known by its row, or by a row and a suffix that changes
// nothing the row says: a date, "latest", "preview". The next version of a model is another model.
func ModelOf(provider, model string) Model {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for {
		if m, ok := knownModels[provider+"/"+name]; ok {
			return m
		}
		if m, ok := knownModels[name]; ok {
			return m
		}
		rest := withoutSuffix(name)
		if rest == name {
			return Model{}
		}
		name = rest
	}
}

// suffix is what may stand behind a model's name and leave it the same model: a date in one of the ways providers write
// them, or one of a few words. One or two digits alone are a version.
var suffix = regexp.MustCompile(`[-:@](\d{8}|\d{4}-\d{2}-\d{2}|(preview-)?\d{2}-\d{2,4}|\d{4}|latest|preview|exp|thinking|free|low|medium|high|xhigh|highspeed)$`)

func withoutSuffix(name string) string {
	if at := suffix.FindStringIndex(name); at != nil {
		return name[:at[0]]
	}
	return name
}

// Window is the context window of a model on this account, in tokens: the configured one, else what is known of the model;
// 0 = unknown.
func (p *Profile) Window(model string) int {
	if p.ContextLength > 0 {
		return p.ContextLength
	}
	return ModelOf(p.Provider.ID, model).Window
}

// lookUpModels keeps what is known of the models that a line asks its accounts for.
func (t *Table) lookUpModels(l line) {
	for _, pl := range l.places {
		m := cmp.Or(pl.model.model, l.defaultModel.model)
		t.offers[pl.profile].known[m] = ModelOf(t.Profiles[pl.profile].Provider.ID, m)
	}
}

// modelOf is what is known of a profile's model: a look-up for those that the configuration names.
func (t *Table) modelOf(profile int, model string) Model {
	if m, ok := t.offers[profile].known[model]; ok {
		return m
	}
	return ModelOf(t.Profiles[profile].Provider.ID, model)
}
