package simulator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The shapes of a Messages body. A member that only a beta brings is taken without it; TestMessagesRefusals has what is not.
var (
	messagesBody = shapeOf(`model!string messages!array max_tokens!integer system:string,array metadata:object stop_sequences:array
		stream:bool temperature:number thinking:object tool_choice:object tools:array top_k:integer top_p:number
		service_tier:string cache_control:object,null container:string,object,null mcp_servers:array context_management:object,null
		output_config:object output_format:object,null inference_geo:string,null speed:string,null diagnostics:object,null
		betas:array`)
	messagesCounted = shapeOf(`model!string messages!array system:string,array thinking:object tool_choice:object tools:array
		cache_control:object,null mcp_servers:array context_management:object,null output_config:object
		output_format:object,null speed:string,null betas:array`)
	messagesMessage = shapeOf(`role!string content!string,array`)
	messagesTool    = shapeOf(`name!string input_schema!object description:string type:string,null cache_control:object,null
		strict:bool defer_loading:bool eager_input_streaming:bool,null allowed_callers:array input_examples:array`)
	messagesChoice   = shapeOf(`type!string name:string disable_parallel_tool_use:bool`)
	messagesMetadata = shapeOf(`user_id:string,null`)
	messagesOutput   = shapeOf(`effort:string,null format:object,null task_budget:object,null`)
	messagesCache    = shapeOf(`type!string ttl:string scope:string`)
	messagesSource   = map[string]shape{
		"base64":  shapeOf(`type!string media_type!string data!string`),
		"url":     shapeOf(`type!string url!string`),
		"file":    shapeOf(`type!string file_id!string`),
		"text":    shapeOf(`type!string media_type!string data!string`),
		"content": shapeOf(`type!string content!string,array`),
	}
	messagesThinking = map[string]shape{
		"enabled":  shapeOf(`type!string budget_tokens!integer display:string`),
		"adaptive": shapeOf(`type!string display:string`),
		"disabled": shapeOf(`type!string`),
	}
	messagesBlocks = map[string]shape{
		"text":              shapeOf(`type!string text!string cache_control:object,null citations:array,null`),
		"image":             shapeOf(`type!string source!object cache_control:object,null`),
		"document":          shapeOf(`type!string source!object title:string,null context:string,null citations:object,null cache_control:object,null`),
		"search_result":     shapeOf(`type!string source!string title!string content!array citations:object,null cache_control:object,null`),
		"thinking":          shapeOf(`type!string thinking!string signature!string`),
		"redacted_thinking": shapeOf(`type!string data!string`),
		"tool_use":          shapeOf(`type!string id!string name!string input!object cache_control:object,null caller:object,null`),
		"tool_result":       shapeOf(`type!string tool_use_id!string content:string,array is_error:bool cache_control:object,null`),
		"tool_reference":    shapeOf(`type!string tool_name!string cache_control:object,null`),
		// What runs on Anthropic's side is taken as it comes.
		"server_tool_use":        shapeOf(`type!string id!string name!string input!object …`),
		"web_search_tool_result": shapeOf(`type!string tool_use_id!string content!array,object …`),
		"web_fetch_tool_result":  shapeOf(`type!string tool_use_id!string content!object …`),
		"mcp_tool_use":           shapeOf(`type!string id!string name!string input!object …`),
		"mcp_tool_result":        shapeOf(`type!string tool_use_id!string …`),
		"container_upload":       shapeOf(`type!string file_id!string …`),
		"compaction":             shapeOf(`type!string …`),
	}
)

// knownBetas are the betas that the simulator knows. One that it does not know may bring members of its own: then no member
// is refused for being unknown.
var knownBetas = []string{
	betaOAuth, "claude-code-", "interleaved-thinking-", "fine-grained-tool-streaming-", "prompt-caching-", "context-1m-",
	"output-128k-", "token-efficient-tools-", "token-counting-", "extended-cache-ttl-", "context-management-", "files-api-",
	"structured-outputs-", "effort-", "pdfs-", "fast-mode-", "advanced-tool-use-",
}

// anthropicComplaints are the words of its validator, Pydantic.
var anthropicComplaints = complaints{
	missing: func(n node) *problem { return invalidMessages(n.at + ": Field required") },
	extra: func(at node, name string) *problem {
		return invalidMessages(at.style.member(at.at, name) + ": Extra inputs are not permitted")
	},
	kind: func(n node, want kinds) *problem {
		return invalidMessages(fmt.Sprintf("%s: Input should be a valid %s", n.at, pydanticKind(want)))
	},
}

func pydanticKind(want kinds) string {
	for _, k := range []struct {
		kind kinds
		word string
	}{{isObject, "dictionary"}, {isArray, "list"}, {isNumber, "number"}, {isInteger, "integer"}, {isBool, "boolean"}} {
		if want&k.kind != 0 {
			return k.word
		}
	}
	return "string"
}

var (
	toolUseID      = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName       = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	propertyKey    = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	adaptiveModels = regexp.MustCompile(`^claude-(opus-4-[7-9]|(opus|sonnet|haiku|fable)-[5-9])`) // no budgets, no sampling
	prefillEnded   = regexp.MustCompile(`^claude-((opus|sonnet)-4-[6-9]|(opus|sonnet|haiku|fable)-[5-9])`)
	eitherSampling = regexp.MustCompile(`^claude-(opus-4-1|(opus|sonnet|haiku)-4-[5-9])`)
)

// outputLimits are the most tokens that models answer with, by the beginning of their name.
var outputLimits = []struct {
	model string
	limit int
}{
	{"claude-3-haiku", 4096},
	{"claude-3-opus", 4096},
	{"claude-3-5", 8192},
	{"claude-3-7", 64000},
	{"claude-opus-4-5", 64000},
	{"claude-opus-4-6", 128000},
	{"claude-opus-4-7", 128000},
	{"claude-opus-4-8", 128000},
	{"claude-opus-4", 32000},
	{"claude-sonnet-4", 64000},
	{"claude-haiku-4", 64000},
}

// tagged reviews a value whose type member says of which of the shapes it is, and reports its type.
func (r *review) tagged(n node, shapes map[string]shape) (string, bool) {
	kind := n.member("type")
	if kindOf(n.value) != isObject {
		r.refuse(r.kind(n, isObject))
		return "", false
	}
	if !kind.found {
		r.refuse(r.missing(kind))
		return "", false
	}
	s, known := shapes[kind.text()]
	if !known {
		tags := make([]string, 0, len(shapes))
		for tag := range shapes {
			tags = append(tags, "'"+tag+"'")
		}
		slices.Sort(tags)
		r.refuse(invalidMessages(fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags: %s", n.at, kind.text(), strings.Join(tags, ", "))))
		return "", false
	}
	return kind.text(), r.shaped(n.under(kind.text()), s)
}
