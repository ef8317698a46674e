package gemini

import (
	"strconv"
	"strings"
)

// model is what a name says of the model that goes by it.
type model struct {
	gemini     bool    // one of Google's own Gemini family
	generation float64 // 2.5, 3, 3.1, 4
	pro, lite  bool
	claude     bool // Anthropic's, behind Cloud Code
	media      bool // makes images or speech: its thinking cannot be steered
}

// newestLevels is the generation that a Gemini model without a number in its name is taken for: gemini-flash-latest is
// always one that thinks by levels.
const newestLevels = 3

// modelOf reads a model's name, with or without a path in front: "models/gemini-3.1-pro-preview".
func modelOf(name string) model {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	m := model{claude: strings.Contains(name, "claude")}
	version, gemini := strings.CutPrefix(name, "gemini-")
	if m.claude || !gemini {
		return m
	}
	m.gemini = true
	number, _, _ := strings.Cut(version, "-")
	if g, err := strconv.ParseFloat(number, 64); err == nil && g > 0 && g < 100 {
		m.generation = g
	} else {
		m.generation = newestLevels
	}
	m.pro = strings.Contains(version, "pro")
	m.lite = strings.Contains(version, "lite")
	m.media = strings.Contains(version, "image") || strings.Contains(version, "tts")
	return m
}

// levels reports whether the model is told how much to think by a thinkingLevel. Its calls must be signed, too
// (ai.google.dev/gemini-api/docs/thought-signatures), and its results may hold images.
func (m model) levels() bool { return m.generation >= 3 }

// thinks reports whether thinkingConfig may be set: a model that does not think refuses it.
func (m model) thinks() bool { return m.generation >= 2.5 && !m.media }

// jsonSchema reports whether schemas may be plain JSON Schema: parametersJsonSchema and responseJsonSchema
// (ai.google.dev/api/generate-content, and vercel/ai#20757, which tried them on 2.5 and 3 at both of Google's endpoints).
// What is older, and what is not Google's, is given the Schema message of the API, which knows few keywords.
func (m model) jsonSchema() bool { return m.generation >= 2.5 }

// samples reports whether temperature, topP and topK change anything: Gemini 4 ignores them
// (ai.google.dev/gemini-api/docs/generate-content/latest-model).
func (m model) samples() bool { return m.generation < 4 }

// both reports whether an answer may have a schema while there are tools. Before Gemini 3 that is a 400: "Function calling
// with a response mime type: 'application/json' is unsupported".
func (m model) both() bool { return !m.gemini || m.generation >= 3 }
