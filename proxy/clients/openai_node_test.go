package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// openAINode is OpenAI's library for Node.js, with its own retries. Its program is node/openai.mjs.
func openAINode() client {
	return client{
		name:    "npm openai client",
		missing: func() string { return missingPackage("openai") },
		ask: func(ctx context.Context, a ask) (outcome, error) {
			return askProgram(ctx, a, "node", filepath.Join("node", "openai.mjs"))
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
