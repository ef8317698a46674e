package simulator

import "time"

// codexModel is what Codex reads of a model (openai/codex, codex-rs/protocol: ModelInfo); one that lacks a member makes it
// drop the whole list.
type codexModel struct {
	Slug            string              `json:"slug"`
	DisplayName     string              `json:"display_name"`
	Description     string              `json:"description"`
	DefaultLevel    string              `json:"default_reasoning_level"`
	Levels          []map[string]string `json:"supported_reasoning_levels"`
	ShellType       string              `json:"shell_type"`
	Visibility      string              `json:"visibility"`
	SupportedInAPI  bool                `json:"supported_in_api"`
	Priority        int                 `json:"priority"`
	Upgrade         *struct{}           `json:"upgrade"`
	Instructions    string              `json:"base_instructions"`
	Summaries       bool                `json:"supports_reasoning_summaries"`
	Verbosity       bool                `json:"support_verbosity"`
	DefaultVerb     *string             `json:"default_verbosity"`
	ApplyPatch      *string             `json:"apply_patch_tool_type"`
	Truncation      map[string]any      `json:"truncation_policy"`
	Parallel        bool                `json:"supports_parallel_tool_calls"`
	ContextWindow   int                 `json:"context_window"`
	Experimental    []string            `json:"experimental_supported_tools"`
	InputModalities []string            `json:"input_modalities"`
}

func codexModels(models []string, _ time.Time) []byte {
	list := struct {
		Models []codexModel `json:"models"`
	}{Models: []codexModel{}}
	for i, m := range models {
		list.Models = append(list.Models, codexModel{
			Slug: m, DisplayName: m, Description: "simulated", DefaultLevel: "medium",
			Levels:    []map[string]string{{"effort": "low", "description": "simulated"}, {"effort": "medium", "description": "simulated"}, {"effort": "high", "description": "simulated"}},
			ShellType: "shell_command", Visibility: "list", SupportedInAPI: true, Priority: i, Summaries: true,
			Truncation: map[string]any{"mode": "bytes", "limit": 10000}, Parallel: true, ContextWindow: 272000,
			Experimental: []string{}, InputModalities: []string{"text", "image"},
		})
	}
	return encode(list)
}
