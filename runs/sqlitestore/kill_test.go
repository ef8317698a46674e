package sqlitestore_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/storetest"
)

// childOf is this test program as a child that writes to the file.
func childOf(file string, round int, wrapped ...string) *exec.Cmd {
	command := append(wrapped, os.Args[0])
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), childFile+"="+file, fmt.Sprint(childRound, "=", round))
	c.Stderr = os.Stderr
	return c
}

// X03. HUB_KILL_ROUNDS says how often.
func TestKill(t *testing.T) {
	t.Parallel()
	file := fresh(t)
	storetest.Kill(t, os.Getenv("HUB_KILL_ROUNDS"),
		func(_ testing.TB, round int) *exec.Cmd { return childOf(file, round) },
		func(t testing.TB) runs.Store { return db(t, file).Runs() })
}
