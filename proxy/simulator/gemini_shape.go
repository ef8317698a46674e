package simulator

import "regexp"

// The shapes of a Gemini body. Nothing in them is required: what is missing is noticed later, in other words.
var (
	geminiBody = shapeOf(`contents:array systemInstruction:object tools:array toolConfig:object safetySettings:array
		generationConfig:object cachedContent:string labels:object model:string serviceTier:string store:bool sessionId:string`)
	geminiContent = shapeOf(`parts:array role:string`)
	geminiPart    = shapeOf(`text:string inlineData:object fileData:object functionCall:object functionResponse:object
		executableCode:object codeExecutionResult:object toolCall:object toolResponse:object thought:bool thoughtSignature:string
		videoMetadata:object mediaResolution:object,string partMetadata:object`)
	geminiCall        = shapeOf(`id:string name:string args:object,null`)
	geminiResponse    = shapeOf(`id:string name:string response:object willContinue:bool scheduling:string parts:array`)
	geminiInline      = shapeOf(`mimeType:string data:string displayName:string`)
	geminiFile        = shapeOf(`mimeType:string fileUri:string displayName:string`)
	geminiTool        = shapeOf(`functionDeclarations:array googleSearch:object googleSearchRetrieval:object codeExecution:object urlContext:object computerUse:object fileSearch:object googleMaps:object mcpServers:array`)
	geminiDeclaration = shapeOf(`name:string description:string parameters:object parametersJsonSchema:any response:object responseJsonSchema:any behavior:string`)
	geminiSchema      = shapeOf(`type:string format:string title:string description:string nullable:bool enum:array maxItems:string,integer
		minItems:string,integer properties:object required:array minProperties:string,integer maxProperties:string,integer
		minLength:string,integer maxLength:string,integer pattern:string example:any anyOf:array propertyOrdering:array default:any
		items:object minimum:number maximum:number`)
	geminiToolConfig = shapeOf(`functionCallingConfig:object retrievalConfig:object includeServerSideToolInvocations:bool`)
	geminiCalling    = shapeOf(`mode:string allowedFunctionNames:array streamFunctionCallArguments:bool`)
	geminiGeneration = shapeOf(`stopSequences:array responseMimeType:string responseSchema:object responseJsonSchema:any
		responseModalities:array candidateCount:integer maxOutputTokens:integer temperature:number topP:number topK:number
		seed:integer presencePenalty:number frequencyPenalty:number responseLogprobs:bool logprobs:integer
		enableEnhancedCivicAnswers:bool speechConfig:object thinkingConfig:object imageConfig:object mediaResolution:string`)
	geminiThinking = shapeOf(`includeThoughts:bool thinkingBudget:integer thinkingLevel:string`)
	cloudBody      = shapeOf(`model:string project:string request:object userPromptId:string requestId:string userAgent:string
		requestType:string displayModelId:string enabledCreditTypes:array labels:object`)
)

// geminiData are the members of a part of which exactly one is there.
var geminiData = []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"}

var (
	geminiName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
	// geminiThinkers are models that think, and sign their calls; of the signed ones the signatures must come back.
	geminiThinkers = regexp.MustCompile(`^(gemini-(2\.5|3|[4-9])|.*-thinking)`)
	geminiSigned   = regexp.MustCompile(`^gemini-([3-9])`)
	// geminiPrefilled are models that go on with words that were put into their mouth (LibreChat-AI/agents 323, pipecat 5821).
	geminiPrefilled = regexp.MustCompile(`^gemini-([12]\.|3-|3\.1-|3\.5-flash($|-[^l])|pro-latest)`)
	geminiTypes     = regexp.MustCompile(`(?i)^(TYPE_UNSPECIFIED|STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)$`)
)

// thinkingBudgets are the least and the most tokens of thinking, by the beginning of a model's name, and whether it always
// thinks.
var thinkingBudgets = []struct {
	model       string
	least, most int
	always      bool
}{
	{"gemini-2.5-pro", 128, 32768, true},
	{"gemini-2.5-flash-lite", 512, 24576, false},
	{"gemini-2.5-flash", 0, 24576, false},
}
