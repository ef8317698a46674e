package main

import "time"

// scenario is a way to ask: closed loop, in which each of a number of clients asks again as soon as it was answered, or
// open loop, in which requests come at a fixed rate whether or not the ones before were answered.
type scenario struct {
	Name    string
	Clients int
	Rate    int // requests a second; 0 = closed loop
	ask     ask
	unit    string // what the costs are told for: a request, a stream, a piece of a paced stream
	foreign bool   // measured over accounts of another protocol as well
	kept    bool   // measured with hubs that keep less and more of their calls as well
}

// measures reports whether a target is measured under this scenario.
func (s *scenario) measures(t *target) bool {
	return (s.foreign || !t.foreign) && (s.kept || !t.kept)
}

// units is how many units one call is.
func (s *scenario) units() int {
	if s.unit == "chunk" {
		return s.ask.chunks
	}
	return 1
}

const (
	small = 1 << 10
	large = 64 << 10
)

func request(name string, clients, size int) scenario {
	return scenario{Name: name, Clients: clients, ask: ask{size: size}, unit: "request"}
}

// The scenarios of a quick run, which every change can afford, and those that a full run has besides.
var (
	quickScenarios = []scenario{
		{Name: "json 1 KB, C=16", Clients: 16, ask: ask{size: small}, unit: "request", kept: true},
		request("json 64 KB, C=16", 16, large),
		{Name: "stream of 200, C=16", Clients: 16, ask: ask{size: small, chunks: 200}, unit: "stream", foreign: true, kept: true},
		{Name: "open loop 1000/s", Clients: 64, Rate: 1000, ask: ask{size: small}, unit: "request"},
	}
	moreScenarios = []scenario{
		request("json 1 KB, C=1", 1, small),
		request("json 1 KB, C=64", 64, small),
		request("json 1 KB, C=256", 256, small),
		{Name: "stream of 200, C=64", Clients: 64, ask: ask{size: small, chunks: 200}, unit: "stream", foreign: true},
		{Name: "paced 20 ms, C=64", Clients: 64, ask: ask{size: small, chunks: 50, pace: 20 * time.Millisecond}, unit: "chunk", kept: true},
		{Name: "open loop 1500/s", Clients: 128, Rate: 1500, ask: ask{size: small}, unit: "request"},
	}
)
