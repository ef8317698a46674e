package router

import (
	"net/http"
	"time"

	"hermes-hub/quota"
)

// Protocol is the dialect an account speaks.
type Protocol string

// The protocols of the contract.
const (
	ProtocolChat      Protocol = "chat"      // OpenAI chat completions
	ProtocolMessages  Protocol = "messages"  // Anthropic Messages
	ProtocolResponses Protocol = "responses" // OpenAI Responses
	ProtocolGemini    Protocol = "gemini"    // Gemini generateContent
	ProtocolCloudCode Protocol = "cloudcode" // Cloud Code / Antigravity
)

// LeaseMode is how exactly several instances of the hub keep to an account's slots. In one instance they always do.
type LeaseMode string

// The lease modes.
const (
	LeaseEventual LeaseMode = "eventual" // by what the others were last heard to hold: it costs nothing, and may go beyond for a moment
	LeaseStrict   LeaseMode = "strict"   // by asking before each lease: one round trip to what they share
)

// Profile is one account: where it is, what it may serve, with whose credential. Immutable once it is in a Table.
type Profile struct {
	ID              string
	Provider        Provider // the provider's row of the table; its defaults are already applied below
	DisplayName     string
	AccountID       string
	Enabled         bool
	ColdSpare       bool // used only when every other candidate is unusable
	Main            bool
	Capabilities    []string
	PreferredModels []string
	FallbackModels  []string
	ModelMap        map[string]string // requested model -> this account's name for it
	MaxConcurrency  int               // slots; 0 = unlimited
	LeaseMode       LeaseMode         // "" = eventual
	BaseURL         string            // ends where the protocol's path is appended; no trailing slash
	Protocol        Protocol
	Headers         http.Header // configured extra headers; values may be secret
	ProxyURL        string      // "" = the environment's proxy
	ContextLength   int         // tokens; 0 = unknown
	Credential      Secret
}

// ChainItem is one entry of a role's chain.
type ChainItem struct {
	Profile string
	Model   string // "" = decided per request
}

// Role is a named purpose with its chain of accounts.
type Role struct {
	ID                   string
	Name                 string
	Aliases              []string
	Chain                []ChainItem
	FallbackCapabilities []string // enabled profiles sharing one follow the chain, in file order
	MaxAttempts          int      // upstream attempts in one request; 0 = the router's number
	Affinity             bool
	DefaultModel         string
}

// Settings are the router's own keys of the configuration.
type Settings struct {
	Failover          bool // router.enabled; false = one attempt
	DefaultRole       string
	MaxAttempts       int // router.max_failover_attempts; 0 = every candidate once
	AffinityTTL       time.Duration
	AutoReturnPrimary bool
	Policy            quota.Policy
	Threshold         Threshold  // router.quota_threshold_percent and router.quota_threshold_action
	Protocols         []Protocol // what the proxy can speak to an upstream; others are skipped with ReasonProtocol
}
