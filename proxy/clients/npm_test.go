package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// openAINode is OpenAI's library for Node.js, with its own retries. Its program is node/openai.mjs.
func openAINode() client { return nodeClient("npm openai client", "openai", "openai.mjs") }

// aiSDK is Vercel's AI SDK, whose retries no answer can stop. Its program is node/ai.mjs.
func aiSDK() client {
	c := nodeClient("npm ai client", "ai", "ai.mjs")
	c.chatOnly, c.stubborn = true, true
	return c
}

// anthropicNode is Anthropic's library for Node.js, with its own retries. Its program is node/anthropic.mjs.
func anthropicNode() client {
	return nodeClient("npm @anthropic-ai/sdk client", "@anthropic-ai/sdk", "anthropic.mjs")
}

// nodeClient is a client whose program is in the folder node.
func nodeClient(name, npm, program string) client {
	return client{
		name:    name,
		missing: func() string { return missingPackage(npm) },
		start: func(t *testing.T) func(context.Context, ask) (outcome, error) {
			return startProgram(t, "node", filepath.Join("node", program))
		},
	}
}

// missingPackage says what is lacking for a program that imports the npm package.
func missingPackage(name string) string {
	if _, err := exec.LookPath("node"); err != nil {
		return "node not found: run make deps"
	}
	if _, err := os.Stat(filepath.Join("node", "node_modules", name, "package.json")); err != nil {
		return "its package is not installed: run make deps"
	}
	return ""
}
