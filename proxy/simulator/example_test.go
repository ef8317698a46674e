package simulator_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"hermes-hub/proxy/simulator"
)

// Two accounts: the first breaks off its first answer and refuses the second call, the other one answers.
func Example() {
	p := simulator.New(
		simulator.Account{Name: "first", Key: "sk-first", Models: []string{"gpt-5.5"}},
		simulator.Account{Name: "second", Key: "sk-second", Answer: simulator.Say("Hello from the simulation")},
	)
	p.Push("first", simulator.CutReset.After(3), simulator.UsageLimit)

	for _, key := range []string{"sk-first", "sk-first", "sk-second"} {
		req, _ := http.NewRequest(http.MethodPost, "http://simulator/v1/chat/completions",
			strings.NewReader(`{"model":"gpt-5.5","messages":[{"role":"user","content":"Hello"}]}`))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := p.RoundTrip(req)
		if err != nil {
			fmt.Println(err)
			continue
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		fmt.Println(resp.Status, err)
	}
	fmt.Println(p.Total("first"), p.Total("second"))
	// Output:
	// 200 OK read tcp pipe->pipe: read: connection reset by peer
	// 429 Too Many Requests <nil>
	// 200 OK <nil>
	// 2 1
}
