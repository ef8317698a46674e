// Command hermes-hub routes LLM agents over several provider accounts behind one base URL.
package main

func main() {}
