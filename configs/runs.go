package configs

import "hermes-hub/router"

// runtimeCompletion is the runtime that is always there: the hub's own routes.
const runtimeCompletion = "completion"

// Runs is the block runs: what executes a run.
type Runs struct {
	DefaultRuntime string // completion, or the name of one of Runtimes
	Runtimes       []Runtime
}

// Runtime is one program that executes runs.
type Runtime struct {
	Name    string
	Kind    string // hermes
	BaseURL string
	APIKey  router.Secret
}

// readRuns reads the block runs.
func readRuns(b *block) Runs {
	defer b.done()
	runs := Runs{DefaultRuntime: runtimeCompletion}
	names := []string{runtimeCompletion}
	chosen := b.get("default_runtime")
	for name, n := range b.get("runtimes").block().each() {
		if name == runtimeCompletion {
			n.fail(": the name %s stands for the hub's own routes", name)
		} else {
			names = append(names, name)
		}
		runs.Runtimes = append(runs.Runtimes, readRuntime(name, n.block()))
	}
	if !chosen.absent() {
		runs.DefaultRuntime = chosen.oneOf(names...)
	}
	return runs
}

func readRuntime(name string, b *block) Runtime {
	defer b.done()
	rt := Runtime{Name: name, Kind: b.get("kind").oneOf("hermes")}
	address := b.get("base_url")
	rt.BaseURL = address.url("http", "https")
	if address.absent() {
		address.fail(" is missing: want the address of the runtime, as in http://127.0.0.1:8642")
	}
	rt.APIKey = b.get("api_key").secret(Error)
	return rt
}
