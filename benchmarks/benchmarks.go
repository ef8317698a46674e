// Package benchmarks measures the hot path as it is wired in the program: a whole request through the proxy plane over a
// canned upstream, and what its parts cost. Nothing imports it. The parts have benchmarks of their own beside them:
// BenchmarkChoose (router), BenchmarkRead429 and BenchmarkRead200Headers (quota), BenchmarkSplice (proxy/wire).
package benchmarks
