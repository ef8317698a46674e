package clients

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// openAIPython is OpenAI's library for Python, with its own retries. Its program is python/openai_turns.py.
func openAIPython() client { return pythonClient("PyPI openai client", "openai_turns.py") }

// langChain is LangChain's chat model over OpenAI's library for Python. Its program is python/langchain_turns.py.
func langChain() client {
	c := pythonClient("PyPI langchain-openai client", "langchain_turns.py")
	c.chatOnly = true
	return c
}

// pythonClient is a client whose program is in the folder python.
func pythonClient(name, program string) client {
	return client{
		name:    name,
		missing: func() string { return missingEnvironment("python") },
		start: func(t *testing.T) func(context.Context, ask) (outcome, error) {
			return startProgram(t, filepath.Join(environment("python"), "python"), filepath.Join("python", program))
		},
	}
}

// environment is where make deps puts the commands of the folder's pinned PyPI packages.
func environment(folder string) string { return filepath.Join("..", "..", ".scratch", folder, "bin") }

// missingEnvironment says what is lacking for a program that needs the folder's pinned PyPI packages. What make deps
// leaves behind at its end proves that they are all there, in the pinned versions.
func missingEnvironment(folder string) string {
	want, err := os.ReadFile(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		return err.Error()
	}
	got, err := os.ReadFile(filepath.Join(environment(folder), "..", "installed.txt"))
	if err != nil || string(got) != string(want) {
		return "its packages are not installed: run make deps"
	}
	return ""
}
