package neutral

// Request is a conversation and what is wanted of its next turn.
type Request struct {
	Turns    []Turn
	Tools    []Tool
	Choice   Choice
	Parallel *bool // whether several calls in one turn are welcome; nil = not said
	Format   Format

	MaxTokens        int // of the answer, reasoning included; 0 = not said
	Temperature      *float64
	TopP             *float64
	TopK             *int64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	Seed             *int64
	Stop             []string
	Effort           string // reasoning: none, minimal, low, medium, high, xhigh; "" = not said
	ReasoningTokens  int    // reasoning: most tokens to spend; 0 = not said
	Verbosity        string // low, medium, high; "" = not said
	ServiceTier      string
	User             string // names the end user to the provider; "" = not said
	CacheKey         string // prompt_cache_key
	Metadata         []byte // a JSON object of strings; nil = none

	// Others are members of the client's body that this form has no place for, in the client's words, in the order of the
	// body: an Encode names them as dropped.
	Others []string
}

// Role is who speaks in a Turn.
type Role uint8

// The roles. A developer's words are the system's.
const (
	System Role = iota + 1
	User
	Assistant
	ToolRole // holds one ToolResult
)

// Turn is one message.
type Turn struct {
	Role  Role
	Parts []Part
	Name  string // of the speaker; "" = none
	Path  string // where it stood in the client's body, for errors: "messages[3]"
}

// PartKind says which fields of a Part count.
type PartKind uint8

// The kinds of parts.
const (
	TextPart       PartKind = iota + 1 // Text
	ImagePart                          // Media
	AudioPart                          // Media
	FilePart                           // Media, Name
	ReasoningPart                      // Text, Seal: what the model thought, in front of the parts it led to
	ToolCallPart                       // ID, Name, Arguments, Seal
	ToolResultPart                     // ID, Name, Result, IsError
	RefusalPart                        // Text
)

// Part is a piece of a Turn.
type Part struct {
	Kind      PartKind
	Text      Literal
	Media     Media
	ID        string // of the call
	Name      string // of the tool, or of the file
	Arguments []byte // JSON text of the call's arguments, as the model wrote it: it need not be valid JSON
	Result    []Part // texts and images
	IsError   bool
	Seal      Seal
	Cache     bool   // the client marks the conversation as worth caching up to here
	Path      string // where it stood in the client's body: "messages[3].content[1]"
}

// Media is an image, a sound or a file.
type Media struct {
	URL    string // http or https; "" = Data holds it
	Type   string // "image/png"; "" = not said
	Data   string // base64
	FileID string // of a file that was uploaded to the provider
	Detail string // of an image: low, high, auto; "" = not said
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description Literal
	Schema      []byte // JSON Schema of the arguments; nil = none
	Strict      *bool
	Namespace   string // of the client's, with which Name begins: "files__read" is "read" of "files"; "" = none
	Custom      bool   // the client knows it as a tool that takes a text: the arguments are an object that holds it
	Cache       bool
	Path        string // "tools[2]"
}

// ChoiceMode is how free the model is to call tools.
type ChoiceMode uint8

// The modes. The zero ChoiceMode is not said.
const (
	ChoiceAuto ChoiceMode = iota + 1
	ChoiceNone
	ChoiceAny  // at least one call
	ChoiceTool // the one that Choice.Name names
)

// Choice is what the client wants of the tools.
type Choice struct {
	Mode ChoiceMode
	Name string
}

// FormatKind is the shape of the answer.
type FormatKind uint8

// The kinds. The zero FormatKind is plain text.
const (
	FormatJSON   FormatKind = iota + 1 // any JSON object
	FormatSchema                       // by Format.Schema
)

// Format is the shape that the answer's text must have.
type Format struct {
	Kind        FormatKind
	Name        string
	Description Literal
	Schema      []byte
	Strict      *bool
}

// Target is what an Encode has to know of the account that it writes for.
type Target struct {
	Model     string // the account's name of the model
	Stream    bool   // whether the answer is wanted as a stream
	MaxOutput int    // tokens that the model can answer with; 0 = unknown
	Project   string // Cloud Code's
	Codex     bool   // ChatGPT's Codex backend, which takes less than the Responses API
}

// Encoded is a Request as a protocol's body.
type Encoded struct {
	Body    []byte
	Dropped []string // members that were left out, in the client's words, each once
}
