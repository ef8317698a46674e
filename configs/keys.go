package configs

import (
	"slices"
	"strings"
)

// Key is one key that the file may have.
type Key struct {
	Path   string // * stands for a name of the user's choice, [] for an item of a list: profiles.*.auth_config.api_key
	NotYet string // what the key waits for; "" = it takes effect
}

// oneOfEach has one entry wherever the file has entries of the user's choice: their readers then ask for their keys.
const oneOfEach = `
client_keys: [{name: a}]
roles: {a: {preferred_chain: [{profile: a}]}}
profiles: {a: {}}
pricing: {a: {}}
runs: {runtimes: {a: {}}}
`

// Keys lists every key, in order. What the readers of the blocks ask for is what the file may have, so the list is taken
// from them and cannot fall behind.
func Keys() []Key {
	_, r := readConfig("", []byte(oneOfEach), func(string) string { return "" })
	var keys []Key
	for _, row := range sortedKeys(r.rows) {
		if !slices.ContainsFunc(sortedKeys(r.rows), func(other string) bool { return isUnder(other, row) }) {
			keys = append(keys, Key{row, whyNotYet(row)})
		}
	}
	return keys
}

// isUnder reports whether the key stands in the block, or in an item of the list.
func isUnder(key, block string) bool {
	return strings.HasPrefix(key, block+".") || strings.HasPrefix(key, block+"[]")
}

func whyNotYet(key string) string {
	for row, why := range notYet {
		if key == row || isUnder(key, row) {
			return why
		}
	}
	return ""
}
