// Package benchmarks measures the hot path as it is wired in the program: a whole request through the proxy plane over a
// canned upstream, passed through and translated, and what it holds of a long answer. What an account of each protocol
// answers is recorded from the simulator, which is as strict about the request as its provider. Nothing imports the package.
// The parts have benchmarks of their own beside them: BenchmarkChoose (router), BenchmarkRead429 and BenchmarkRead200Headers
// (quota), BenchmarkSplice (proxy/wire), BenchmarkChunk (the codecs below proxy/wire).
package benchmarks
